import { randomUUID } from 'node:crypto';
import type { INodeParameters, INodeExecutionData } from 'n8n-workflow';
import { N8nDriver, type Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { chain, node } from '../n8n/workflow';
import { CREDENTIAL } from '../../nodes/shared/n8n/http/credential';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import {
	callIdOf,
	credentialFor,
	executionsOf,
	PACKAGE,
	placeCalls,
	post,
	removeWorkflow,
} from './calls';
import { expectEachOnce } from './flood';
import { sharedN8n } from './shared';

const CALLS = 60;
const FORGED = 6;

const NAME = 'Call Completed Trigger';
const ids = (items: INodeExecutionData[]) => items.map(callIdOf).sort();

describe('Call Completed Trigger in real n8n', () => {
	const { baseUrl } = sharedN8n();
	let n8n: N8nDriver;
	let simulator: Simulator;
	let workflow: Workflow | undefined;

	beforeAll(async () => {
		n8n = await N8nDriver.signIn(baseUrl);
		simulator = await startSimulator({ dialect: dialects.plain });
	});
	afterEach(async () => {
		simulator.reset();
		if (workflow === undefined) return;
		await removeWorkflow(n8n, workflow);
		workflow = undefined;
	});
	afterAll(async () => {
		await simulator.stop();
	});

	/** Publishes a workflow with the trigger. Returns the webhook URL. */
	async function listen(parameters: INodeParameters = {}): Promise<string> {
		const webhookId = randomUUID();
		const credentials = await credentialFor(n8n, simulator);
		const trigger = node(NAME, `${PACKAGE}.callCompletedTrigger`, 2, parameters, {
			webhookId,
			credentials,
		});
		workflow = await n8n.createWorkflow(chain('call completed', trigger));
		await n8n.activate(workflow);
		const url = `${baseUrl}/webhook/${webhookId}/call-completed`;
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
		return url;
	}

	/** What the trigger has passed on in as many executions. */
	async function outputs(executions: number): Promise<INodeExecutionData[]> {
		if (workflow === undefined) throw new Error('No workflow is published');
		return await executionsOf(n8n, workflow, NAME, executions);
	}

	it(`starts once per call with true data: ${CALLS} completions, each delivered twice, and ${FORGED} forged`, async () => {
		const counts = { calls: CALLS, forged: FORGED };
		await expectEachOnce(simulator, await listen(), outputs, counts);
	});

	it('starts nothing for a call that was reported before the workflow was unpublished and published again', async () => {
		const url = await listen();
		const [callId = ''] = await placeCalls(simulator, 1, url);
		await simulator.completeCall(callId);
		expect(await outputs(1)).toHaveLength(1);
		if (workflow === undefined) throw new Error('No workflow is published');
		await n8n.deactivate(workflow);
		// Otherwise, the earlier publication could accept the next requests.
		await until('the trigger to stop', async () => (await post(url, '')).status === 404);
		await n8n.activate(workflow);
		await until('the trigger to listen', async () => (await post(url, '')).status === 400);
		await until('the report to be accepted', async () => {
			const [delivery] = await simulator.deliverWebhook(callId);
			return delivery?.status === 200;
		});
		const [other = ''] = await placeCalls(simulator, 1, url);
		await simulator.completeCall(other);
		expect(ids(await outputs(3))).toEqual([callId, other].sort());
	});

	it.each([
		['text that is not JSON', 'call_id=1', 422],
		['an empty body', '', 400],
		['JSON without call_id', '{"status":"picked"}', 400],
		['a call_id with ../', '{"call_id":"../v1/calls"}', 400],
		['50 MB', JSON.stringify({ call_id: fixtures.calls.finished, x: 'x'.repeat(50e6) }), 500],
	])('%s gets a JSON response and starts nothing', async (_name, body, status) => {
		const url = await listen();
		const response = await post(url, body);
		expect(response.status).toBe(status);
		expect(await response.json()).toMatchObject({ message: expect.any(String) });
		expect(await outputs(0)).toEqual([]);
	});

	it('JSON with other content types starts the workflow, and a call of another account ends at the trigger', async () => {
		const url = await listen();
		const send = async (callId: string, type?: string) => {
			const body = Buffer.from(JSON.stringify({ call_id: callId }));
			const headers = type === undefined ? undefined : { 'content-type': type };
			const response = await fetch(url, { method: 'POST', body, ...(headers && { headers }) });
			expect(response.status).toBe(200);
		};
		const { finished, notPicked } = fixtures.calls;
		await send(finished, 'text/plain');
		await send(notPicked);
		await send(randomUUID(), 'application/octet-stream');
		expect(ids(await outputs(3))).toEqual([finished, notPicked].sort());
	});

	it('a forged report of a call in progress starts nothing and does not block the real one', async () => {
		const url = await listen();
		const [callId = ''] = await placeCalls(simulator, 1, url);
		expect((await post(url, { call_id: callId, summary: 'made up' })).status).toBe(200);
		await until('the call to be read back', async () => simulator.requests.length > 2);
		await simulator.completeCall(callId);
		const [item, ...others] = await outputs(2);
		expect(others).toEqual([]);
		expect(item?.json).toMatchObject({ call_id: callId, call_ended_by: 'agent' });
		expect(item?.json.summary).not.toBe('made up');
	});

	it('another HTTP method gets a JSON response and starts nothing', async () => {
		const url = await listen();
		const response = await fetch(url);
		expect(response.status).toBe(404);
		expect(await response.json()).toMatchObject({ message: expect.any(String) });
		expect(await outputs(0)).toEqual([]);
	});

	it('listens for a test event in the editor', async () => {
		const webhookId = randomUUID();
		const credentials = await credentialFor(n8n, simulator);
		const type = `${PACKAGE}.callCompletedTrigger`;
		const trigger = node(NAME, type, 2, {}, { webhookId, credentials });
		const draft = await n8n.createWorkflow(chain('call completed, in the editor', trigger));
		const url = `${baseUrl}/webhook-test/${webhookId}/call-completed`;
		expect(await n8n.startManually(draft, NAME)).toEqual({ waitingForWebhook: true });
		expect((await post(url, '{}')).status).toBe(400);
		expect((await post(url, { call_id: fixtures.calls.finished })).status).toBe(200);
		const [item, ...others] = await executionsOf(n8n, draft, NAME, 1);
		expect(item?.json).toMatchObject({ call_id: fixtures.calls.finished, status: 'picked' });
		expect(others).toEqual([]);
		await removeWorkflow(n8n, draft);
	});

	it('a test event in the editor shows why its call could not be read', async () => {
		const webhookId = randomUUID();
		const { baseUrl: service } = simulator;
		const data = { baseUrl: service, apiToken: 'another-token-16' };
		const credentials = { [CREDENTIAL]: await n8n.createCredential(CREDENTIAL, data) };
		const type = `${PACKAGE}.callCompletedTrigger`;
		const trigger = node(NAME, type, 2, {}, { webhookId, credentials });
		const draft = await n8n.createWorkflow(chain('call completed, unreadable', trigger));
		const url = `${baseUrl}/webhook-test/${webhookId}/call-completed`;
		expect(await n8n.startManually(draft, NAME)).toEqual({ waitingForWebhook: true });
		expect((await post(url, { call_id: fixtures.calls.finished })).status).toBe(200);
		const [execution] = await until('the execution', async () => {
			const all = await n8n.executions(draft);
			return all.some(({ status }) => status === 'error') && all;
		});
		const { error, runData } = await n8n.runData(execution?.id ?? '');
		expect(error).toMatchObject({
			message: expect.stringMatching(/^Call .* was reported as completed, but couldn't be read/),
			description: expect.stringContaining("'API Token'"),
		});
		expect(Object.keys(runData)).toEqual([NAME]);
		await removeWorkflow(n8n, draft);
	});

	it('returns the transcript and recording, and filters calls by status', async () => {
		const url = await listen({
			include: ['transcript', 'recording'],
			filters: { statuses: 'picked' },
		});
		const [picked = '', missed = ''] = await placeCalls(simulator, 2, url);
		await simulator.completeCall(missed, { status: 'not_picked' });
		await simulator.completeCall(picked);
		const [item, ...others] = await outputs(2);
		expect(others).toEqual([]);
		expect(item?.json).toMatchObject({
			call_id: picked,
			transcript: [{ role: 'assistant' }, {}, {}],
			recording: { recording_url: expect.any(String), expires_in_seconds: 900 },
		});
	});
});
