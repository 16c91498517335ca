import type { Route } from '../http/route';
import type { SimulatorState } from '../world';

/** The presigned URL, outside the API: another path, and no token. */
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
