import type { INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { SETTLE_MS } from '../../../nodes/shared/chat/connection';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { credentialFor } from '../../contract/credentialFor';
import { mcpTool, service } from '../../engine';
import { dialects, startSimulator } from '../../simulator';
import { agents, chatHarness, eventually, records, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('chatSession', { sessionId: sessions.open });
/** After this time, a new connection is ready. */
const SETTLED_MS = 2 * SETTLE_MS;
const AGENT = { agentUuid: { __rl: true, mode: 'id', value: agents.full } };

describe('create', () => {
	test.each([
		[
			'deeper',
			{ success: true, data: { session: { session_id: 's-1' } } },
			{ session_id: 's-1', session: { session_id: 's-1' } },
		],
		['a list', { success: true, data: ['s-1'] }, { data: ['s-1'] }],
	])('create with the session ID %s', async (_name, response, record) => {
		service()
			.post('/v1/chat/session', { agent_uuid: agents.full, person_name: 'Asha' })
			.reply(200, response);
		const run = await harness.runOnNock({ operation: 'create', ...AGENT, personName: 'Asha' });
		expect(records(run)).toEqual([record]);
	});

	test.each([
		['a path without a value', { chatCreateSessionPath: 'data.talk.id' }, 'check'],
		['no path, and an ID under another name', {}, 'fill in'],
	])('%s: one hint for all items names the setting', async (_name, credential, verb) => {
		service()
			.post('/v1/chat/session')
			.times(2)
			.reply(200, { success: true, data: { id: 's-2' } });
		const run = await harness.runOnNock(
			{ operation: 'create', ...AGENT },
			{ credential, items: [{ json: {} }, { json: {} }] },
		);
		expect(records(run)).toEqual([{ id: 's-2' }, { id: 's-2' }]);
		expect(run.data.resultData.runData.Node?.at(-1)?.hints).toEqual([
			{
				message: `A chat session was created, but its ID wasn't found in the response. In the credential, turn on 'My Provider Sent Settings', then turn on 'Set Up Chat Requests' and ${verb} 'Create Session: Path to Session ID in Response'.`,
			},
		]);
	});

	test('a tool creates one session per person for concurrent requests', async () => {
		const personName = "={{ $fromAI('name', '', 'string') }}";
		const node = await harness.other('chatSession', { operation: 'create', ...AGENT, personName });
		const create = mcpTool(harness.credentials, node, 'client-with-several');
		const names = ['Asha', 'Ravi'];
		const created = await Promise.all(names.map(async (name) => await create({ name })));
		expect(created).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
		const requests = harness.simulator().requests.map(({ body }) => body);
		expect(requests).toMatchObject(names.map((name) => ({ person_name: name })));
	});

	test('the path from the credential has priority', async () => {
		service()
			.post('/v1/chat/session')
			.reply(200, { success: true, data: { id: 's-2', session_id: 'other' } });
		const credential = { chatCreateSessionPath: 'data.id' };
		const run = await harness.runOnNock({ operation: 'create', ...AGENT }, { credential });
		expect(records(run)).toMatchObject([{ session_id: 's-2' }]);
	});
});

test.each(['chat-\ud83d', '.', '..'])(
	"the legacy session ID %j can't be part of a path, so nothing is sent",
	async (id) => {
		const parameters = { operation: 'legacyClose', ...AGENT, sessionId: '={{ $json.id }}' };
		const { message } = stopMessage(await harness.run(parameters, { items: [{ id }] }));
		expect(message).toContain("'Session ID' isn't a session ID");
		expect(harness.simulator().requests).toEqual([]);
	},
);

describe('support commands', () => {
	const PATH = `/v1/chat/session/${sessions.open}/support`;

	test.each<[string, INodeParameters, string]>([
		['supportCommand', { command: 'other', otherCommand: ' take_over ' }, 'take_over'],
		['supportCommand', { command: '={{ " take_over " }}' }, 'take_over'],
	])('%s %j', async (operation, parameters, command) => {
		service()
			.post(PATH, { command, note: 'x' })
			.reply(200, { success: true, data: { state: 'done' } });
		const developerSettings = { additionalBodyFields: '{ "note": "x" }' };
		const run = await harness.runOnNock({ operation, ...parameters, developerSettings });
		expect(records(run)).toEqual([{ session_id: sessions.open, state: 'done' }]);
	});

	test('rejects another command without a name before anything is sent', async () => {
		const parameters = { operation: 'supportCommand', command: 'other', otherCommand: ' ' };
		expect(stopMessage(await harness.run(parameters)).message).toContain('Command Name');
		expect(harness.simulator().requests).toEqual([]);
	});
});

test.each<[string, INodeParameters, string, string]>([
	['create', AGENT, '/v1/chat/session', '1 session was already created'],
	['legacyCreate', AGENT, '/chat_sessions', '1 session was already created'],
	['legacyClose', AGENT, 'close_session', '1 session was already closed'],
	['legacyPause', AGENT, 'pause_session', '1 session was already paused'],
	['close', {}, 'support', '1 session was already closed'],
	['supportCommand', { command: 'close' }, 'support', '1 command was already sent'],
])(
	'%s: if a later item stops the execution, reports what was done',
	async (operation, fields, path, done) => {
		const matches = (uri: string) => uri.endsWith(path);
		const data = { session_id: sessions.open };
		service().post(matches).reply(200, { success: true, data });
		service()
			.post(matches)
			.reply(422, { success: false, errors: ['no'] });
		const parameters = { operation, ...fields, sessionId: '={{ $json.id }}' };
		const items = [{ id: sessions.open }, { id: sessions.dormant }];
		expect(stopMessage(await harness.runOnNock(parameters, { items })).description).toContain(
			`${done} in this run (item 0).`,
		);
	},
);

describe('wait for event', () => {
	const wait = async (parameters: INodeParameters = {}) =>
		await harness.run({ operation: 'waitForEvent', ...parameters });
	const listening = async () =>
		await eventually(() => harness.simulator().sessions.openSockets() === 1);

	test('the first event of the chosen types ends it, with the earlier events', async () => {
		const waiting = wait({ eventTypes: '={{ "mode_changed, session_closed" }}' });
		await listening();
		const { sessions: control } = harness.simulator();
		control.nudge(sessions.open);
		control.setMode(sessions.open, 'support');
		expect(records(await waiting)).toEqual([
			{
				session_id: sessions.open,
				timed_out: false,
				session_closed: false,
				event: expect.objectContaining({ type: 'mode_changed', event_id: expect.any(String) }),
				seen: [expect.objectContaining({ type: 'nudge_sent' })],
			},
		]);
	});

	test('without types: any event, and with a custom type: that one', async () => {
		for (const [parameters, type] of [
			[{}, 'nudge_sent'],
			[{ developerSettings: { otherEventTypes: 'typing_started' } }, 'typing_started'],
		] as const) {
			const waiting = wait(parameters);
			await listening();
			harness.simulator().sessions.nudge(sessions.open);
			harness.simulator().sessions.pushEvent(sessions.open, 'typing_started');
			expect(records(await waiting)).toMatchObject([{ event: { type } }]);
			await eventually(() => harness.simulator().sessions.openSockets() === 0);
		}
	});

	test.each([
		[
			'the service issues no token',
			{ kind: 'status', status: 503 },
			/^The connection to the chat session keeps failing\. .*The service said: /,
		],
		['the token request is slow', { kind: 'hang' }, /^Check that the service is available/],
	] as const)(
		'never connected, because %s: an error instead of a timeout',
		async (_name, fault, advice) => {
			const { sessionId } = harness.simulator().sessions.create();
			harness.simulator().faults.inject(fault);
			const run = await wait({ sessionId, timeLimit: 10 });
			expect(stopMessage(run)).toMatchObject({
				message: expect.stringContaining("wasn't connected within the time limit"),
				description: expect.stringMatching(advice),
			});
		},
	);

	test('connected once, but not at the end: a timeout', async () => {
		const { sessionId } = harness.simulator().sessions.create();
		const waiting = wait({ sessionId, eventTypes: ['session_dormant'], timeLimit: 50 });
		await listening();
		await clock.sleep(SETTLED_MS);
		harness.simulator().faults.inject({ kind: 'hang' });
		harness.simulator().sessions.expireTokens();
		harness.simulator().sessions.closeSockets(4401);
		expect(records(await waiting)).toMatchObject([{ timed_out: true, event: null }]);
	});

	describe('Stop', () => {
		const begin = async (parameters: INodeParameters = {}, items = [{}]) =>
			await harness.start({ operation: 'waitForEvent', ...parameters }, { items });

		test('ends the wait and closes the socket', async () => {
			const { execution } = await begin();
			await listening();
			execution.cancel();
			expect((await execution).status).toBe('canceled');
			await eventually(() => harness.simulator().sessions.openSockets() === 0);
			expect(harness.connections()).toBe(1);
		});

		test('while the credential is read: sends no more requests', async () => {
			let continueReading = () => {};
			const reading = new Promise<void>((resolve) => (continueReading = resolve));
			const getDecrypted = harness.credentials.getDecrypted.bind(harness.credentials);
			const read = jest.spyOn(harness.credentials, 'getDecrypted');
			read.mockImplementation(async (...args) => {
				await reading;
				return await getDecrypted(...args);
			});
			const { sessionId } = harness.simulator().sessions.create();
			const { execution } = await begin({ sessionId });
			await eventually(() => read.mock.calls.length > 0);
			execution.cancel();
			continueReading();
			expect((await execution).status).toBe('canceled');
			await clock.sleep(5_000);
			const requests = harness.simulator().requests.filter(({ path }) => path.includes(sessionId));
			expect(requests).toEqual([]);
		});
	});

	test.each(['offset', 'noOffset', 'number', 'seconds'] as const)(
		"a replayed event doesn't end it, in any time format (%s)",
		async (eventTime) => {
			const terse = await startSimulator({ dialect: dialects.terse, eventTime });
			try {
				terse.clock.advance(-5_000);
				terse.sessions.nudge(sessions.open, 1);
				terse.clock.reset();
				const credential = credentialFor(terse);
				const waiting = harness.run({ operation: 'waitForEvent' }, { credential });
				await eventually(() => terse.sessions.openSockets() === 1);
				await clock.sleep(SETTLED_MS);
				terse.sessions.nudge(sessions.open, 2);
				expect(records(await waiting)).toMatchObject([
					{
						event: { payload: { idle_seconds: 2 } },
						seen: [{ payload: { idle_seconds: 1 } }],
					},
				]);
			} finally {
				await terse.stop();
			}
		},
	);

	test("an event that's replayed after a reconnect doesn't end it", async () => {
		const chats = harness.simulator().sessions;
		const { sessionId } = chats.create();
		chats.nudge(sessionId, 1);
		await clock.sleep(100);
		const waiting = harness.run({ operation: 'waitForEvent', sessionId });
		await eventually(() => chats.openSockets(sessionId) === 1);
		await clock.sleep(SETTLED_MS);
		chats.closeSockets(1011, sessionId);
		await eventually(() => chats.openSockets(sessionId) === 0);
		await eventually(() => chats.openSockets(sessionId) === 1);
		await clock.sleep(SETTLED_MS);
		chats.nudge(sessionId, 2);
		expect(records(await waiting)).toMatchObject([
			{
				event: { payload: { idle_seconds: 2 } },
				seen: [{ payload: { idle_seconds: 1 } }],
			},
		]);
	});

	test('in a loop, an event is returned once even if the session ID has another case', async () => {
		const terse = await startSimulator({ dialect: dialects.terse });
		try {
			const credential = credentialFor(terse);
			const items = [{ id: sessions.open }, { id: sessions.open.toUpperCase() }];
			const parameters = {
				operation: 'waitForEvent',
				sessionId: '={{ $json.id }}',
				timeLimit: 20,
				developerSettings: { concurrency: 2 },
			};
			const waiting = harness.run(parameters, { credential, items });
			await eventually(() => terse.sessions.openSockets() === 1);
			await clock.sleep(SETTLED_MS);
			terse.sessions.nudge(sessions.open, 1);
			const [one, other] = records(await waiting);
			expect(one).toMatchObject({ event: { payload: { idle_seconds: 1 } } });
			expect(other).toMatchObject({ timed_out: true, event: null });
		} finally {
			await terse.stop();
		}
	});

	test('works as a tool of an MCP client, without an execution', async () => {
		const node = await harness.other('chatSession', {
			operation: 'waitForEvent',
			sessionId: sessions.open,
		});
		const waiting = mcpTool(harness.credentials, node, 'one-client')();
		await listening();
		harness.simulator().sessions.nudge(sessions.open);
		expect(await waiting).toMatchObject({
			outcome: 'done',
			result: { timed_out: false, event: { type: 'nudge_sent' } },
		});
	});

	test.each([[0], [-1], [86_401]])(
		'the time limit %j is rejected before anything is sent',
		async (timeLimit) => {
			expect(stopMessage(await wait({ timeLimit }))).toEqual({
				message: `'Time Limit (Seconds)' must be more than 0 and at most 86400 (got ${timeLimit})`,
				description: expect.stringContaining('the maximum number of seconds to wait, such as 300.'),
			});
			expect(harness.simulator().requests).toEqual([]);
		},
	);

	test("a time limit that isn't a number is rejected before anything is sent", async () => {
		expect(stopMessage(await wait({ timeLimit: '={{ "soon" }}' })).message).toBe(
			'\'Time Limit (Seconds)\' must be a number, but its expression returned "soon"',
		);
		expect(harness.simulator().requests).toEqual([]);
	});
});

describe('watch and unwatch', () => {
	const ORIGIN = 'https://n8n.example.com';
	const PATH = '/webhook/abc/watch';
	const ask = async (operation: string, parameters: INodeParameters = {}) =>
		await harness.runOnNock({
			resource: 'watchList',
			operation,
			triggerUrl: ORIGIN + PATH,
			triggerSecret: 'sesame',
			...parameters,
		});
	const trigger = () =>
		nock(ORIGIN, { reqheaders: { 'x-watch-secret': 'sesame' }, badheaders: ['API-Token'] });

	test.each(['watch', 'unwatch'])(
		'%s: sends the request and returns the response',
		async (action) => {
			const response = { watched: true, connected: true, watched_sessions: [sessions.open] };
			trigger()
				.post(PATH, { action, session_ids: [sessions.open] })
				.reply(200, response);
			expect(records(await ask(action))).toEqual([{ session_id: sessions.open, ...response }]);
		},
	);

	test('an unreachable trigger is reported', async () => {
		const refused = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
		trigger().post(PATH).replyWithError(refused);
		expect(stopMessage(await ask('watch')).message).toBe("n8n can't reach 'Trigger URL'");
	});

	test('Retry On Fail sends it again', async () => {
		trigger().post(PATH).reply(503, { message: 'elsewhere', resolution: 'again' });
		trigger()
			.post(PATH)
			.reply(200, { watched_sessions: [sessions.open] });
		const run = await harness.runOnNock(
			{
				resource: 'watchList',
				operation: 'watch',
				triggerUrl: ORIGIN + PATH,
				triggerSecret: 'sesame',
			},
			{ overrides: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 } },
		);
		expect(records(run)).toHaveLength(1);
	});

	const closed = { message: 'The chat session is closed', resolution: 'Create one' };
	const noTrigger = "No Chat Events Trigger responds at 'Trigger URL'";
	test.each([
		[422, closed, closed.message, closed.resolution],
		[
			404,
			{ code: 404, message: 'not registered' },
			noTrigger,
			'The response was: HTTP status 404.',
		],
		[503, '', noTrigger, 'try again in a moment'],
		[200, '<html>', noTrigger, 'Publish the workflow'],
	])("rejects a response with status %i that isn't a success", async (...one) => {
		const [status, body, message, advice] = one;
		trigger().post(PATH).reply(status, body);
		expect(stopMessage(await ask('watch'))).toEqual({
			message,
			description: expect.stringContaining(advice),
		});
	});

	test.each<[INodeParameters, string]>([
		[
			{ triggerSecret: '={{ "" }}' },
			"'Trigger Secret' must be text, but its expression returned an empty text",
		],
		[{ triggerUrl: '={{ "" }}' }, "'Trigger URL' is empty"],
		[
			{ triggerUrl: 'n8n.example.com/webhook' },
			"'Trigger URL' must begin with http:// or https://",
		],
		[{ triggerUrl: 'ftp://n8n.example.com' }, "'Trigger URL' must begin with http:// or https://"],
	])('%j: rejected before anything is sent', async (parameters, message) => {
		expect(stopMessage(await ask('watch', parameters)).message).toBe(message);
	});
});
