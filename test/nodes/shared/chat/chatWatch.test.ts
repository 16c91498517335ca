import { parseWatchRequest, watchBody } from '../../../../nodes/shared/chat/chatWatch';

const ONE = '0f8fad5b-d9cb-469f-a165-70867728950e';
const TWO = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

test.each(['watch', 'unwatch'] as const)('%s is read as it was written', (action) => {
	const request = { action, sessionIds: [ONE, TWO] };
	expect(parseWatchRequest(watchBody(request))).toEqual(request);
});

test('one session may be named alone', () => {
	expect(parseWatchRequest({ action: 'watch', session_id: ONE })).toEqual({
		action: 'watch',
		sessionIds: [ONE],
	});
});

test.each([
	[{ session_ids: [ONE] }, 'The request does not say what to do', /^Send \{ "action": "watch"/],
	[{ action: 'look', session_ids: [ONE] }, 'The request does not say what to do', /^Send/],
	[{ action: 'watch' }, 'The request names no session', /as session_ids\.$/],
	[{ action: 'unwatch', session_ids: [] }, 'The request names no session', /as session_ids\.$/],
])('%j is told', (body, message, resolution) => {
	const told = () => {
		try {
			return parseWatchRequest(body);
		} catch (error) {
			return error;
		}
	};
	expect(told()).toMatchObject({ message, resolution: expect.stringMatching(resolution) });
});
