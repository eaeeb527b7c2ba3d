// The methods of each path, to tell 405 Method Not Allowed from 404 Not Found.
import type { FastifyInstance } from "fastify";

/** `answers`: the schemas of its responses, by status. */
export type Route = { method: string; url: string; answers: object };

/** Records the routes that are added to the app after this call, each of which must say who may call it. */
export function watchRoutes(app: Pick<FastifyInstance, "addHook">): {
  routes: Route[];
  /** The methods of the routes that match `path`, except wildcard routes, which match any path. */
  methodsAt(path: string): string[];
} {
  const routes: Route[] = [];
  app.addHook("onRoute", ({ method, url, schema, config }) => {
    if (config?.access === undefined)
      throw new Error(`No access for ${url}: say in its config who may call it.`);
    const answers = Object(schema?.response);
    for (const one of [method].flat()) routes.push({ method: one, url, answers });
  });
  return {
    routes,
    methodsAt(path) {
      const steps = path.split("/");
      const methods = routes.filter(({ url }) => matches(url, steps)).map(({ method }) => method);
      return [...new Set(methods)];
    },
  };
}

function matches(url: string, steps: string[]): boolean {
  const pattern = url.split("/");
  return (
    pattern.length === steps.length &&
    pattern.every((step, index) => (step.startsWith(":") ? steps[index] !== "" : step === steps[index]))
  );
}
