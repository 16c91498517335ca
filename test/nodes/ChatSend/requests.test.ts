import { randomUUID } from 'node:crypto';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/core/values/json';
import { mcpTool, service, records } from '../../engine';
import { agents, chatHarness, eventually, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('chatSend', {
	operation: 'sendMessage',
	sessionId: sessions.open,
	message: 'Hello',
});
const AGENT = { agentUuid: { __rl: true, mode: 'id', value: agents.full } };
const INBOUND = '/v1/chat/inbound';
const ASYNC = '/v1/chat/inbound/async';
const KEY = { options: { idempotencyKey: 'k-1' } };
const ACCEPTED = { success: true, data: { turn_id: 't-1', session_id: 's-1' } };
const HINT = {
	reply: null,
	reply_hint: expect.stringMatching(
		/no reply\. With the mode support, a person has taken over .* In n8n, get the reply with Chat Events Trigger: /,
	),
};

/** Accepts every message and returns the bodies. */
function accepting(path: string, times = 1): IDataObject[] {
	const bodies: IDataObject[] = [];
	service()
		.post(path)
		.times(times)
		.reply(200, (_uri, body) => {
			bodies.push(typeof body === 'string' ? {} : body);
			return ACCEPTED;
		});
	return bodies;
}

test('additional fields are added, and never replace the message', async () => {
	const bodies = accepting(INBOUND);
	const additionalBodyFields = '{ "customer_id": 7, "message": "ignored" }';
	await harness.runOnNock({ sendingMethod: 'inbound', options: { additionalBodyFields } });
	expect(bodies).toEqual([{ session_id: sessions.open, message: 'Hello', customer_id: 7 }]);
});

test.each([
	['accepted', 200, ACCEPTED, 'not stop'],
	['rejected', 422, { success: false, error: 'no' }, 'An earlier attempt may have sent this'],
])(
	'a message with a key and an unknown outcome is sent again by Retry On Fail, and is %s',
	async (_how, status, body, message) => {
		service().post(ASYNC).reply(500, 'oops');
		service().post(ASYNC).reply(status, body);
		const overrides = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const run = await harness.runOnNock({ sendingMethod: 'async', ...KEY }, { overrides });
		expect(stopMessage(run).message).toContain(message);
	},
);

describe('a response with status 200 and', () => {
	const responding = async (sendingMethod: 'inbound' | 'async', data: JsonObject) => {
		service()
			.post(sendingMethod === 'inbound' ? INBOUND : ASYNC)
			.reply(200, { success: true, data });
		return await harness.runOnNock({ sendingMethod });
	};
	const REJECTED = 'The service rejected the message';
	const FAILED = "The service couldn't process the message";
	const inactive = { state: 'invalid', error: 'agent_inactive' };
	const busy = { state: 'busy', error: 'server_busy' };

	const MAYBE_REJECTED: JsonObject[] = [
		{ state: 'invalid' },
		{ state: 'busy', error: 'later' },
		{ state: 'error', error: 'boom', reply: false, merged_into: {} },
		// Elsewhere, it may be about something else.
		{ answer: inactive },
		{ state: 'open', session: { state: 'active' }, answer: busy, earlier: { turn_id: 't-0' } },
	];

	test.each<['inbound' | 'async', JsonObject, string, string]>([
		['inbound', inactive, REJECTED, 'Activate the agent'],
		['async', inactive, REJECTED, 'Activate the agent'],
		['inbound', busy, 'The service is too busy to accept the message', 'Send it again later.'],
		...MAYBE_REJECTED.map((data): ['inbound', JsonObject, string, string] => [
			'inbound',
			data,
			FAILED,
			'The service may or may not have accepted the message.',
		]),
	])('%s, %j: the item fails', async (sendingMethod, data, message, advice) => {
		expect(stopMessage(await responding(sendingMethod, data))).toEqual({
			message,
			description: expect.stringContaining(advice),
		});
	});

	test.each<[JsonObject, IDataObject]>([
		// The state of another object.
		[{ state: 'accepted', agent: { state: 'busy' }, line: { state: 'error' } }, HINT],
		[{ turn_id: 't-1', reply: 'Hello', tool: { state: 'error', error: 'timeout' } }, {}],
		// A turn, with any state.
		[{ answer: { state: 'invalid', turn_id: 't-1' } }, HINT],
		[{ answer: { state: 'merged', merged_into: 't-0', reply: '' } }, HINT],
		[{ answer: { state: 'merged', reply: { buttons: ['Yes'] } } }, {}],
		[{ state: 'with_operator', mode: 'support', reply: null }, HINT],
		[{ state: 'with_operator', mode: 'support', reply: 'Please wait.' }, {}],
	])('%j: accepted, and says where a missing reply comes', async (data, hint) => {
		for (const sendingMethod of ['inbound', 'async'] as const) {
			expect(records(await responding(sendingMethod, data))).toEqual([{ ...data, ...hint }]);
		}
	});
});

test.each<[string, INodeParameters, string, advice: string]>([
	['inbound', { sessionId: '' }, 'The message has no session and no agent', "or 'Agent'"],
	['legacy', { ...AGENT, sessionId: '={{ "" }}' }, "'Session ID'", 'Enter the session_id'],
	[
		'legacy',
		{ agentUuid: { __rl: true, mode: 'id', value: '={{ "x" }}' } },
		`'Agent' must be an agent ID (got "x")`,
		'Enter an agent ID',
	],
])(
	'%s: rejected with advice before anything is sent, %#',
	async (sendingMethod, parameters, ...texts) => {
		const run = await harness.run({ sendingMethod, ...parameters });
		const [message, description] = texts.map((text): unknown => expect.stringContaining(text));
		expect(stopMessage(run)).toEqual({ message, description });
		expect(harness.simulator().requests).toEqual([]);
	},
);

test.each([
	['two texts at the same moment', 'inbound', 'inbound', ['Hello', 'Are you there?']],
	['the same text in two ways at the same moment', 'inbound', 'legacy', ['yes', 'yes']],
])('a model sends %s: both are sent', async (_what, one, other, texts) => {
	const message = "={{ $fromAI('text', '', 'string') }}";
	const parameters = { operation: 'sendMessage', sessionId: sessions.open, message, ...AGENT };
	const inOneWay = await harness.other('chatSend', { ...parameters, sendingMethod: one });
	const inOther = { ...inOneWay, parameters: { ...inOneWay.parameters, sendingMethod: other } };
	const client = randomUUID();
	const tools = [inOneWay, inOther].map((node) => mcpTool(node, client));
	const sent = await Promise.all(tools.map(async (tool, nth) => await tool({ text: texts[nth] })));
	expect(sent).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
	const bodies = harness.simulator().requests.map(({ body }) => JSON.stringify(body));
	expect(bodies).toEqual(texts.map((text): unknown => expect.stringContaining(`"${text}"`)));
});

describe('3 items with a concurrency of 3', () => {
	const others = [sessions.open, sessions.dormant];
	const CONCURRENT = {
		sendingMethod: 'inbound',
		sessionId: '={{ $json.session }}',
		message: '={{ $json.text }}',
		options: { concurrency: 3 },
	};
	const sent = () => harness.simulator().requests.filter(({ path }) => path === INBOUND);

	test.each([
		['of one session: one by one', [sessions.open, sessions.open, sessions.open], {}, 1],
		['of two sessions: concurrently', [...others, sessions.open], {}, 2],
		['without a session: concurrently', ['', '', ''], AGENT, 3],
	])('%s', async (_case, ids, recipient, maxActive) => {
		const release = harness.simulator().holdResponses();
		const items = ids.map((session, index) => ({ session, text: `${index}` }));
		const running = harness.run({ ...CONCURRENT, ...recipient }, { items });
		await eventually(() => sent().length === maxActive);
		release();
		expect(records(await running).map(({ reply }) => reply)).toEqual([
			'You said: 0',
			'You said: 1',
			'You said: 2',
		]);
		expect(sent()).toHaveLength(3);
		expect(harness.simulator().stats().maxActive).toBe(maxActive);
	});

	test("one fails: later items of its session aren't sent, and those of other sessions are", async () => {
		const { faults } = harness.simulator();
		faults.respond(INBOUND, 422, { times: 1 });
		const items = [sessions.open, sessions.dormant, sessions.open].map((session, index) => ({
			session,
			text: `${index}`,
		}));
		expect(stopMessage(await harness.run(CONCURRENT, { items })).description).toContain(
			'[row 3] Nothing was sent, because an earlier item of the same chat session failed. Handle the earlier item first, so that the conversation keeps its order.',
		);
		expect(sent()).toHaveLength(2);
	});
});
