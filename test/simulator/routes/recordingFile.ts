import type { Route } from '../http/route';
import type { SimulatorState } from '../world';

/** The presigned address, which is no part of the API: no token, another path. */
export function recordingFileRoutes(world: SimulatorState): Route[] {
	const { pathname } = new URL(world.dialect.calls.recordingUrl('http://127.0.0.1', '/x'));
	return [
		{
			method: 'GET',
			path: pathname.replace(/x$/, ':id'),
			open: true,
			handle: (request) => world.recordings.serve(request),
		},
	];
}
