import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { apiMappingOf } from '../../contract/credentialFor';
import {
	engineHarness,
	oneNodeWorkflow,
	resume,
	runKilled,
	service,
	storedCopy,
} from '../../engine';
import { dialects, fixtures } from '../../simulator';

const harness = engineHarness();
const sessionId = fixtures.sessions.open;
const KEY = { idempotency: 'own', idempotencyKey: 'row-1' };

const messages = () => service().post('/v1/chat/inbound/async');
const accept = (bodies: IDataObject[], to = messages()) =>
	to.reply(200, (_uri, body) => {
		bodies.push(typeof body === 'string' ? {} : body);
		return { success: true, data: { turn_id: 't-1', session_id: sessionId } };
	});

/** Sends the message, and is killed. Then the node is edited, and the execution is retried. */
async function bodiesOf(before: INodeParameters, after: INodeParameters): Promise<IDataObject[]> {
	return (await retried(before, after)).bodies;
}

async function retried(
	before: INodeParameters,
	after: INodeParameters,
	answerRetry = (bodies: IDataObject[]) => accept(bodies, messages().optionally()),
) {
	const credential = await harness.addCredential({
		describeChat: true,
		...apiMappingOf(dialects.plain),
	});
	const message = { operation: 'sendMessage', sendBy: 'async', sessionId, message: 'Hello' };
	const workflowWith = (parameters: INodeParameters) =>
		oneNodeWorkflow(
			harness.node('chatSend', {
				credentials: { [CREDENTIAL]: credential },
				parameters: { ...message, ...parameters },
			}),
		);
	const bodies: IDataObject[] = [];
	accept(bodies);
	const { workflow, start } = workflowWith(before);
	const started = await runKilled(harness.credentials, workflow, start, [{ json: {} }]);
	expect(bodies).toHaveLength(1);
	answerRetry(bodies);
	const { workflow: edited } = workflowWith(after);
	const run = await resume(harness.credentials, edited, storedCopy(started), 'retry');
	return { bodies, run };
}

const DERIVED = { idempotency: 'derived', uniqueBy: 'row-1' };

describe("after n8n was killed, a message isn't sent again", () => {
	test.each<[string, INodeParameters, INodeParameters]>([
		['if Prevent Duplicate Messages was turned on in between', {}, KEY],
		['if Prevent Duplicate Messages was turned off in between', KEY, {}],
		['with a key that changed with its text', DERIVED, { ...DERIVED, message: 'Good morning' }],
		['without a key', {}, {}],
		['if an agent was filled in for its session in between', {}, { agentUuid: 'agent_1' }],
	])('%s', async (_when, before, after) => {
		expect(await bodiesOf(before, after)).toHaveLength(1);
	});
});

describe('after n8n was killed, a message is sent again with the same key', () => {
	test.each<[string, INodeParameters, INodeParameters]>([
		['of its own', KEY, KEY],
		['from its item', DERIVED, DERIVED],
		['and another text, which the service rejects', KEY, { ...KEY, message: 'Good morning' }],
	])('%s', async (_which, before, after) => {
		const [one, two, ...others] = (await bodiesOf(before, after)).map(
			({ idempotency_key: key }) => key,
		);
		expect(one).toBeDefined();
		expect(two).toBe(one);
		expect(others).toEqual([]);
	});
});

test('after n8n was killed, a message stays unknown if the retry with the same key fails', async () => {
	const { run } = await retried(KEY, KEY, () =>
		messages().reply(401, { success: false, error: 'Invalid API token' }),
	);
	const { error } = run.data.resultData;
	expect(error?.message).toContain('so the outcome is unknown');
	expect(error?.description).toContain('Invalid API token');
});
