import { recordOf } from '../calls/record';
import { callNotFound, ok, rejected } from '../http/responses';
import type { Route } from '../http/route';
import type { SimulatorState } from '../world';

export function readCallRoutes(world: SimulatorState): Route[] {
	const { state, dialect } = world;
	const callOf = (id = '') =>
		state.calls.get(id) ??
		(dialect.calls.callIdInAnyCase ? state.calls.get(id.toLowerCase()) : undefined);
	return [
		{
			method: 'GET',
			path: '/v1/call/:id',
			handle: ({ params }) => {
				const call = callOf(params.id);
				if (!call) return callNotFound(dialect);
				const record = recordOf(call, state.agents.get(call.agentUuid), dialect);
				if (!call.finished) call.reads++;
				return ok(record);
			},
		},
		{
			method: 'GET',
			path: '/v1/call/:id/transcript',
			handle: ({ params }) => {
				const call = callOf(params.id);
				return call
					? ok({ call_id: call.callId, transcript: call.transcript })
					: callNotFound(dialect);
			},
		},
		{
			method: 'GET',
			path: '/v1/call/:id/recording',
			handle: ({ params }) => {
				const call = callOf(params.id);
				if (!call) return callNotFound(dialect);
				if (!call.recording) {
					return rejected(dialect.statuses.recordingNotAvailable, 'recording_not_available');
				}
				return ok({
					call_id: call.callId,
					recording_url: world.recordings.presign(call.callId),
					expires_in_seconds: 900,
				});
			},
		},
	];
}

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
