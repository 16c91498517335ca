import nock from 'nock';
import { resume } from '../../../../nodes/PlaceCall/wait/resumeUrl';
import { clock } from '../../../../nodes/shared/n8n/http/accountClient';
import { engineHarness, makeWorkflow, webhookContext } from '../../../engine';
import { N8N } from '../waitingExecutions';

const harness = engineHarness();

/** The responses of n8n or a proxy. Returns the number of requests to resume. */
async function requestsUntilAwake(...statuses: number[]): Promise<number> {
	const node = harness.node('placeCall');
	const { context } = webhookContext(harness.credentials, makeWorkflow([node]), node, {});
	let requests = 0;
	nock(N8N)
		.persist()
		.post('/webhook-waiting/7')
		.reply(() => [statuses[requests++] ?? 200, {}]);
	await resume(context, `${N8N}/webhook-waiting/7`);
	return requests;
}

let waits: number[];
beforeEach(() => {
	waits = [];
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		waits.push(ms);
		await Promise.resolve();
	});
});
afterEach(() => jest.restoreAllMocks());

test.each([
	['it resumed', 200],
	['it is running', 409],
	['it does not exist any more', 404],
])('an execution is asked to resume once if n8n responds that %s', async (_what, status) => {
	expect(await requestsUntilAwake(status)).toBe(1);
	expect(waits).toEqual([]);
});

test('if a proxy or n8n fails, the request is repeated less and less often', async () => {
	expect(await requestsUntilAwake(502, 429, 500, 200)).toBe(4);
	expect(waits).toEqual([500, 1_000, 2_000]);
});

test('the request is sent at most ten times', async () => {
	expect(await requestsUntilAwake(...new Array<number>(100).fill(503))).toBe(10);
});
