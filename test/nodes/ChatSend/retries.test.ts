/** Retries of executions of all chat nodes: what may have arrived isn't sent again, except with the same key and content, or if it's harmless twice. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { profileOf } from '../../simulator/dialects/profile';
import {
	engineHarness,
	engineTool,
	oneNodeWorkflow,
	output,
	resume,
	retryFailed,
	runKilled,
	runWorkflow,
	service,
	speedUp,
	storedCopy,
} from '../../engine';
import { dialects, fixtures } from '../../simulator';

const harness = engineHarness();
const sessionId = fixtures.sessions.open;
const agentUuid = { __rl: true, mode: 'id', value: fixtures.agents.full };
const ASYNC = '/v1/chat/inbound/async';
const INJECT = `/v1/chat/session/${sessionId}/inject_context`;

beforeEach(() => speedUp(50));
afterEach(() => jest.restoreAllMocks());

async function workflowWith(type: string, parameters: INodeParameters, isContinued = false) {
	const credential = { serviceProfile: JSON.stringify(profileOf(dialects.plain)) };
	return oneNodeWorkflow(
		await harness.nodeWith(credential, type, {
			parameters,
			...(isContinued && { onError: 'continueRegularOutput' }),
		}),
	);
}

/** Responds to the next requests, and records their bodies. */
function respond(path: string, bodies: IDataObject[], status = 200, times = 1): void {
	const reply = (_uri: string, body: IDataObject | string) => {
		bodies.push(typeof body === 'string' ? {} : body);
		const data = { turn_id: `t-${bodies.length}`, session_id: sessionId };
		return [status, { success: status === 200, data }];
	};
	service().post(path).times(times).optionally().reply(reply);
}

type Attempt = INodeParameters;

/** Runs the node until n8n is killed after its request. Then the execution is retried with each of these parameters. */
async function killedAndRetried(
	type: string,
	path: string,
	before: Attempt,
	...retries: Attempt[]
) {
	const bodies: IDataObject[] = [];
	respond(path, bodies);
	const { workflow, start } = await workflowWith(type, before, true);
	const started = await runKilled(workflow, start, [{ json: {} }]);
	expect(bodies).toHaveLength(1);
	const items: Array<IDataObject | undefined> = [];
	for (const after of retries) {
		respond(path, bodies);
		const { workflow: edited } = await workflowWith(type, after, true);
		const run = await resume(edited, storedCopy(started), 'retry');
		items.push(output(run, 'Node')[0]?.json);
	}
	return { bodies, items };
}

const MESSAGE = { operation: 'sendMessage', sendingMethod: 'async', sessionId, message: 'Hello' };
const OWN = { ...MESSAGE, options: { idempotencyKey: 'row-1' } };
/** Differs in each execution. */
const options = { additionalBodyFields: '={ "external_id": "{{ $execution.id }}" }' };
const metadata = '={ "at": "{{ $execution.id }}" }';
const legacy = (operation: string) => ({ resource: 'legacy', operation, agentUuid, sessionId });
const SESSION = `/chat_sessions/${sessionId}`;
const SUPPORT = `/v1/chat/session/${sessionId}/support`;
const COMMAND = { operation: 'supportCommand', sessionId, command: 'escalate', options };

const UNKNOWN = {
	error: expect.stringContaining('An earlier run or attempt of this execution may have sent this'),
	message:
		"It wasn't sent again. Before anybody sends it in a new execution, check in the service whether it arrived.",
	details: { item: 0, outcome: 'unknown' },
};

test.each<[string, string, Attempt, Attempt]>([
	['chatSend', ASYNC, MESSAGE, MESSAGE],
	['chatSend', ASYNC, MESSAGE, OWN],
	['chatSend', ASYNC, OWN, MESSAGE],
	['chatSend', ASYNC, OWN, { ...OWN, message: 'Good morning' }],
	['chatSend', ASYNC, MESSAGE, { ...MESSAGE, agentUuid: 'agent_1' }],
	['chatSession', SUPPORT, COMMAND, COMMAND],
])(
	"%s, %s: after n8n was killed, isn't sent again, even if values or the node have changed: %#",
	async (type, path, before, after) => {
		// Also not by a second retry of the same execution.
		const { bodies, items } = await killedAndRetried(type, path, before, after, after);
		expect(items).toEqual([UNKNOWN, UNKNOWN]);
		expect(bodies).toHaveLength(1);
	},
);

test.each<[string, string, Attempt]>([
	['chatSend', ASYNC, OWN],
	['chatSession', '/v1/chat/session', { operation: 'create', agentUuid, options }],
	['chatSession', '/chat_sessions', { ...legacy('legacyCreate'), metadata }],
	['chatSession', `${SESSION}/close_session`, legacy('legacyClose')],
	['chatSession', `${SESSION}/pause_session`, legacy('legacyPause')],
	['chatSession', SUPPORT, { operation: 'close', sessionId, options }],
])(
	'%s, %s: after n8n was killed, is sent again, because twice does no harm: %#',
	async (type, path, parameters) => {
		const { bodies, items } = await killedAndRetried(type, path, parameters, parameters);
		expect(items).toMatchObject([{ session_id: sessionId }]);
		expect(bodies).toHaveLength(2);
	},
);

test('after n8n was killed, only the context entry that was rejected is added', async () => {
	const bodies: IDataObject[] = [];
	respond(INJECT, [], 422);
	respond(INJECT, bodies, 200, 2);
	const parameters = { sessionId, context: '={{ $json.text }}' };
	const { workflow, start } = await workflowWith('injectContext', parameters, true);
	const items = ['A long text', 'She asked for a visit'].map((text) => ({ json: { text } }));
	const started = await runKilled(workflow, start, items);
	const run = await resume(workflow, storedCopy(started), 'retry');
	expect(bodies).toEqual(items.toReversed().map(({ json }) => ({ context: json.text })));
	expect(output(run, 'Node').map(({ json }) => json)).toEqual([
		expect.objectContaining({ session_id: sessionId }),
		expect.objectContaining({ error: UNKNOWN.error }),
	]);
});

test.each([
	['with a key', OWN, 1, ['unknown', 'done'], 2],
	['without one', MESSAGE, 1, ['unknown', 'unknown'], 1],
])(
	'a message of a model with an unknown outcome, %s: its repeat is sent only with the key',
	async (...one) => {
		const [, parameters, failures, outcomes, count] = one;
		const bodies: IDataObject[] = [];
		respond(ASYNC, bodies, 500, failures);
		const credential = { serviceProfile: JSON.stringify(profileOf(dialects.plain)) };
		const tool = engineTool(await harness.nodeWith(credential, 'chatSend', { parameters }));
		const first = await tool();
		respond(ASYNC, bodies);
		expect([first, await tool()].map(({ outcome }) => outcome)).toEqual(outcomes);
		expect(bodies).toHaveLength(count);
		expect(new Set(bodies.map(({ idempotency_key: key }) => key)).size).toBe(1);
	},
);

/** Sends two messages with keys. The outcome of the second one is unknown. Then the execution is retried. */
async function unknownAndRetried(idempotencyKey: string) {
	const parameters = { ...OWN, options: { idempotencyKey } };
	const { workflow, start } = await workflowWith('chatSend', parameters);
	const bodies: IDataObject[] = [];
	respond(ASYNC, bodies);
	respond(ASYNC, bodies, 500);
	const items = [{ json: { id: 1 } }, { json: { id: 2 } }];
	const failed = await runWorkflow(workflow, start, items);
	expect(failed.data.resultData.error?.message).toContain('HTTP status 500');
	respond(ASYNC, bodies);
	const retried = await retryFailed(failed, workflow);
	return { keys: bodies.map(({ idempotency_key: key }) => key), retried };
}

test('a retry sends a message with an unknown outcome again with the same key, and not the completed one', async () => {
	const { keys, retried } = await unknownAndRetried('={{ $json.id }}');
	expect(output(retried, 'Node').map(({ json }) => json.turn_id)).toEqual(['t-1', 't-3']);
	expect(keys[2]).toBe(keys[1]);
	expect(new Set(keys).size).toBe(2);
});

test("a retry doesn't send it again if its key has changed", async () => {
	const { keys, retried } = await unknownAndRetried('={{ Math.random() }}');
	expect(keys).toHaveLength(2);
	const { error } = retried.data.resultData;
	expect(error?.message).toContain('HTTP status 500');
});
