import type { INode, INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { mcpTool, service, records } from '../../engine';
import { agents, chatHarness, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('chatSession', { sessionId: sessions.open });
const AGENT = { agentUuid: { __rl: true, mode: 'id', value: agents.full } };

describe('create', () => {
	test.each([
		['a path without a value', { session: 'data.talk.id' }],
		['no path, and an ID under another name', {}],
	])('%s: one hint for all items names the place in the profile', async (_name, session) => {
		const shown = { body: { agent_uuid: '{agent}' }, ...session };
		const credential = { serviceProfile: { 'chat.session': shown } };
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
				message: `A chat session was created, but its ID wasn't found in the response. In n8n, check "session" in "chat.session" of 'Service Profile' in the credential.`,
			},
		]);
	});

	test('a tool creates one session per person for concurrent requests', async () => {
		const personName = "={{ $fromAI('name', '', 'string') }}";
		const node = await harness.other('chatSession', { operation: 'create', ...AGENT, personName });
		const create = mcpTool(node, 'client-with-several');
		const names = ['Asha', 'Ravi'];
		const created = await Promise.all(names.map(async (name) => await create({ name })));
		expect(created).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
		const requests = harness.simulator().requests.map(({ body }) => body);
		expect(requests).toMatchObject(names.map((name) => ({ person_name: name })));
	});

	test.each(['create', 'legacyCreate'])(
		'%s rejects a name that is a placeholder',
		async (operation) => {
			const parameters = { operation, ...AGENT, personName: '{{ $json.name }}' };
			const run = await harness.runOnNock(parameters, { items: [{ name: 'Asha' }] });
			expect(run.data.resultData.error).toMatchObject({
				message: `'Person Name' has "{{ $json.name }}", but the field is set to Fixed`,
				description:
					'In n8n, choose Expression above the field. Nothing was sent or changed in this run.',
			});
		},
	);
});

test.each(['chat-\ud83d', '.', '..', 'chat-7'])(
	'%j is no ID of a session for legacy requests either, so nothing is sent',
	async (id) => {
		const parameters = { operation: 'legacyClose', ...AGENT, sessionId: '={{ $json.id }}' };
		const { message } = stopMessage(await harness.run(parameters, { items: [{ id }] }));
		expect(message).toContain("'Session ID' isn't a session ID");
		expect(harness.simulator().requests).toEqual([]);
	},
);

test('a model pauses a session and then closes it: both requests are sent', async () => {
	const session = { ...AGENT, sessionId: sessions.open };
	const pause = await harness.other('chatSession', { operation: 'legacyPause', ...session });
	const close = { ...pause, parameters: { ...pause.parameters, operation: 'legacyClose' } };
	for (const tool of [pause, close]) {
		expect(await mcpTool(tool, 'client-of-legacy')({})).toMatchObject({ outcome: 'done' });
	}
	expect(harness.simulator().requests.map(({ path }) => path)).toEqual([
		`/chat_sessions/${sessions.open}/pause_session`,
		`/chat_sessions/${sessions.open}/close_session`,
	]);
});

const SUPPORT = `/v1/chat/session/${sessions.open}/support`;
test.each([
	[{ operation: 'supportCommand', command: 'take_over' }, SUPPORT],
	[{ operation: 'close' }, SUPPORT],
	[{ operation: 'create', ...AGENT }, '/v1/chat/session'],
])('%j: if a later item fails, the message names the completed items', async (parameters, path) => {
	service()
		.post(path)
		.reply(200, { success: true, data: { id: sessions.open } });
	service().post(path).reply(400, { success: false, error: 'unknown_command' });
	const sessionId = '={{ $json.id }}';
	const items = [{ id: sessions.open }, { id: sessions.open }];
	const run = await harness.runOnNock({ ...parameters, sessionId }, { items });
	expect(stopMessage(run).description).toContain('Completed in this run: row 1.');
});

describe('watch and unwatch', () => {
	const ORIGIN = 'https://n8n.example.com';
	const PATH = '/webhook/abc/watch';
	const TRIGGER = { triggerUrl: ORIGIN + PATH, triggerSecret: 'sesame' };
	const ask = async (parameters: INodeParameters = {}, overrides: Partial<INode> = {}) => {
		const node = { resource: 'watchList', operation: 'watch', ...TRIGGER, ...parameters };
		return await harness.runOnNock(node, { overrides });
	};
	const TOKEN = `/v1/chat/session/${sessions.open}/ws_token`;
	const trigger = (origin = ORIGIN) =>
		nock(origin, { reqheaders: { 'x-watch-secret': 'sesame' }, badheaders: ['API-Token'] });
	const minting = () =>
		service()
			.post(TOKEN)
			.optionally()
			.reply(200, { success: true, data: { token: 't', ws_url: 'wss://h' } });

	test.each([
		['watch', true, ORIGIN],
		['unwatch', false, 'http://127.0.0.1:5678'],
	])('%s: sends the request and returns the response', async (action, watched, origin) => {
		minting();
		trigger(origin)
			.post(PATH, { action, session_ids: [sessions.open] })
			.reply(200, { watched });
		expect(records(await ask({ operation: action, triggerUrl: origin + PATH }))).toEqual([
			{ session_id: sessions.open, watched },
		]);
	});

	test('a session without a token, such as a closed one, is not watched', async () => {
		service().post(TOKEN).reply(409, { success: false, error: 'session_closed' });
		expect(stopMessage(await ask()).message).toBe('The chat session is closed');
	});

	test.each(['hello', 'n8n.example.com/webhook', 'ftp://n8n.example.com'])(
		"%s isn't a URL, so the service isn't asked",
		async (triggerUrl) => {
			const { message, description } = stopMessage(await ask({ triggerUrl }));
			expect(message).toBe(
				"'Trigger URL' must be a complete URL that begins with https:// or http://",
			);
			expect(description).toContain('copy its Production URL');
		},
	);

	test('Retry On Fail sends it again', async () => {
		minting();
		minting();
		trigger().post(PATH).reply(503, { message: 'elsewhere', resolution: 'again' });
		trigger().post(PATH).reply(200, { watched: true });
		const run = await ask({}, { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 });
		expect(records(run)).toHaveLength(1);
	});

	const unclear = "No Chat Events Trigger confirms the request at 'Trigger URL'";

	test('a connection that breaks is unknown, and Retry sends the request again', async () => {
		const reset = { code: 'ECONNRESET', syscall: 'read' };
		const breaks = () => {
			minting();
			trigger()
				.post(PATH)
				.replyWithError(Object.assign(new Error('no'), reset));
		};
		breaks();
		const failed = await ask({}, { onError: 'continueRegularOutput' });
		expect(records(failed)).toMatchObject([{ error: unclear, details: { outcome: 'unknown' } }]);
		breaks();
		minting();
		trigger().post(PATH).reply(200, { watched: true });
		const run = await ask({}, { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 });
		expect(records(run)).toMatchObject([{ watched: true }]);
	});

	const full = { message: 'The trigger is full', resolution: 'Unwatch one' };
	test.each([
		[400, full, full.message, full.resolution],
		[404, { code: 404, message: 'not registered' }, unclear, 'The response was: HTTP status 404.'],
		[200, '<html>', unclear, 'Sending it again is safe. In n8n, publish the workflow'],
	])("rejects a response with status %i that isn't a success", async (...one) => {
		const [status, body, message, advice] = one;
		minting();
		trigger().post(PATH).reply(status, body);
		expect(stopMessage(await ask())).toEqual({
			message,
			description: expect.stringContaining(advice),
		});
	});

	test.each<[INodeParameters, string]>([
		[{ triggerSecret: '={{ "" }}' }, "'Trigger Secret' is empty"],
		[{ triggerUrl: '={{ "" }}' }, "'Trigger URL' is empty"],
	])('%j: rejected before anything is sent', async (parameters, message) => {
		expect(stopMessage(await ask(parameters)).message).toBe(message);
	});
});
