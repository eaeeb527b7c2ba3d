# Onlooker in one container. With DATABASE_URL it uses that PostgreSQL 18; without, the embedded one under /data.
FROM node:26-trixie-slim AS dashboard

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm install --no-save
COPY . .
RUN node scripts/build.ts

FROM node:26-trixie-slim

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm install --no-save --omit=dev && npm cache clean --force
COPY . .
COPY --from=dashboard /app/dist dist

# The embedded PostgreSQL refuses to run as root, and so does this image.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data

ENV SVC_DATA_DIR=/data SVC_HOST=0.0.0.0 PORT=4000
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# Without npm between, so that the service itself gets the signal to stop.
CMD ["node", "src/main.ts"]
