import { InvalidInput } from '../../../../nodes/shared/api/errors';
import {
	parseSessionId,
	parseWatchRequest,
	parseWatchSecret,
	requireText,
	splitSessionIds,
	watchBody,
} from '../../../../nodes/shared/chat/parseChatFields';

const ONE = '0f8fad5b-d9cb-469f-a165-70867728950e';
const TWO = '7C9E6679-7425-40DE-944B-E07FC1F90AE7';

test.each([ONE, TWO])('%s is a session ID', (id) => {
	expect(parseSessionId(id)).toBe(id);
});

test.each([
	'0f8fad5b-d9cb-70867728950e',
	`${ONE}0`,
	`0${ONE}`,
	` ${ONE}`,
	'0f8fad5bd9cb469fa16570867728950e',
	'0f8fad5b-d9cb-469f-a165-7086772895zz',
	'x',
])('“%s” is none', (text) => {
	expect(() => parseSessionId(text)).toThrow(InvalidInput);
	expect(() => parseSessionId(text)).toThrow(`"${text}" is not a session ID`);
});

test.each(['open sesame', '', '~!"#'])('"%s" can be a secret', (secret) => {
	expect(parseWatchSecret(secret, 'Secret')).toBe(secret);
});

test.each(['é-sesame', 'ses\namé', 'sesame\n', 'sesam\u0000e', 'sesame…'])(
	'%j cannot, as a header would change it',
	(secret) => {
		expect(() => parseWatchSecret(secret, 'Secret')).toThrow(
			"'Secret' can only have ASCII characters",
		);
	},
);

function caught(act: () => unknown): unknown {
	try {
		return act();
	} catch (error) {
		return error;
	}
}

test('of no session ID it is said where to take one from', () => {
	expect(caught(() => parseSessionId(''))).toMatchObject({
		message: 'The Session ID is empty',
		resolution: 'Fill in the ID of the chat session.',
	});
	expect(caught(() => parseSessionId('x'))).toMatchObject({
		resolution: expect.stringMatching(
			/^A session ID has the form 0f8fad5b-.* Take it from session_id/,
		),
	});
});

test('text that people read stays as it was written, and is not empty', () => {
	expect(requireText(' Hello\n', 'Message')).toBe(' Hello\n');
	for (const empty of ['', ' \n']) {
		expect(caught(() => requireText(empty, 'Message'))).toMatchObject({
			message: 'Message is empty',
			resolution: 'Fill in Message for this item.',
		});
	}
});

test.each<[string, unknown, string[]]>([
	['a list', [ONE, TWO], [ONE, TWO]],
	['a list with spaces and holes', [` ${ONE} `, '', null, TWO], [ONE, TWO]],
	['text with commas', `${ONE},${TWO}`, [ONE, TWO]],
	['text with all kinds of separators', ` ${ONE} ,\n;${TWO}; `, [ONE, TWO]],
	['the same twice', `${ONE} ${ONE}`, [ONE]],
	['nothing', '', []],
	['what is no text', { a: 1 }, []],
])('session IDs come as %s', (_how, value, ids) => {
	expect(splitSessionIds(value)).toEqual(ids);
});

test('one that is none among them is told', () => {
	expect(() => splitSessionIds(`${ONE} x`)).toThrow('"x" is not a session ID');
});

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
