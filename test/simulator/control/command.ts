import { response, type SimulatorResponse } from '../http/responses';
import type { Route, SimulatorRequest } from '../http/route';
import { isObject, type JsonObject } from '../json';

/** A control endpoint, which responds with the result or an error. */
export function command(name: string, run: (body: JsonObject) => unknown): Route {
	return {
		method: 'POST',
		path: `/__simulator/${name}`,
		handle: async ({ body }: SimulatorRequest): Promise<SimulatorResponse> => {
			try {
				return response(200, {
					done: true,
					result: (await run(isObject(body) ? body : {})) ?? null,
				});
			} catch (caught) {
				return response(400, {
					done: false,
					message: caught instanceof Error ? caught.message : '',
				});
			}
		},
	};
}
