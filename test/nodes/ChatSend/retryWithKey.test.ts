import type { IDataObject } from 'n8n-workflow';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { apiMappingOf } from '../../contract/credentialFor';
import {
	engineHarness,
	oneNodeWorkflow,
	output,
	retryFailed,
	runWorkflow,
	service,
	speedUp,
} from '../../engine';
import { dialects, fixtures } from '../../simulator';

const harness = engineHarness();
const sessionId = fixtures.sessions.open;

beforeEach(() => speedUp(50));
afterEach(() => jest.restoreAllMocks());

const messages = () => service().post('/v1/chat/inbound/async');

/** Sends two messages with keys. The outcome of the second one is unknown. Then the execution is retried. */
async function retry(message: string) {
	const credential = await harness.addCredential({
		describeChat: true,
		...apiMappingOf(dialects.plain),
	});
	const { workflow, start } = oneNodeWorkflow(
		harness.node('chatSend', {
			credentials: { [CREDENTIAL]: credential },
			parameters: {
				operation: 'sendMessage',
				sendBy: 'async',
				sessionId,
				message,
				idempotency: 'derived',
				uniqueBy: '={{ $json.id }}',
			},
		}),
	);
	const keys: unknown[] = [];
	const respond = (status: number) => (_uri: string, body: IDataObject | string) => {
		keys.push(typeof body === 'string' ? body : body.idempotency_key);
		return [status, { success: status === 200, data: { turn_id: `t-${keys.length}` } }];
	};
	const accept = () => messages().reply(respond(200));
	accept();
	messages().times(3).reply(respond(500));
	const items = [{ json: { id: 1 } }, { json: { id: 2 } }];
	const failed = await runWorkflow(harness.credentials, workflow, start, items);
	expect(failed.data.resultData.error?.message).toContain('HTTP status 500');
	messages().optionally().reply(respond(200));
	const retried = await retryFailed(harness.credentials, failed, workflow);
	return { keys, retried };
}

test('a retry sends a message with an unknown outcome again with the same key, and not the completed one', async () => {
	const { keys, retried } = await retry('Hello');
	expect(output(retried, 'Node').map(({ json }) => json.turn_id)).toEqual(['t-1', 't-5']);
	expect(keys[4]).toBe(keys[3]);
	expect(new Set(keys).size).toBe(2);
});

test("a retry doesn't send it again if its key has changed with its text", async () => {
	const { keys, retried } = await retry('={{ Math.random() }}');
	expect(keys).toHaveLength(4);
	const { error } = retried.data.resultData;
	expect(error?.message).toContain('HTTP status 500');
	expect(error?.description).toContain("It wasn't sent again");
});
