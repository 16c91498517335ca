import { completed, readExample } from '../n8n/examples';
import type { Workflow } from '../n8n/driver';
import { until } from '../n8n/until';
import { TestAccount } from './account';

const example = readExample('place-a-call.json');

describe('the example "Place a call"', () => {
	let test: TestAccount;
	let workflow: Workflow;

	beforeAll(async () => {
		test = await TestAccount.open('call-token-00001');
		workflow = await test.n8n.createWorkflow(completed(example, test.account));
		await test.n8n.activate(workflow);
	});

	beforeEach(() => {
		test.simulator.reset();
	});

	afterAll(async () => {
		await test.n8n.deactivate(workflow);
		await test.n8n.deleteWorkflow(workflow);
		await test.close();
	});

	/** Fills in the form as a browser does; gives the execution that it started. */
	async function submit(name: string, phone: string) {
		const before = await test.n8n.executions(workflow);
		await until('the form', async () => {
			const body = new FormData();
			body.set('field-0', name);
			body.set('field-1', phone);
			const url = `${test.n8n.baseUrl}/form/place-a-call`;
			const response = await fetch(url, { method: 'POST', body });
			await response.text();
			return response.status !== 404;
		});
		return await until('the execution', async () => {
			const [latest] = await test.n8n.executions(workflow);
			return latest?.id !== before[0]?.id && latest?.status !== 'running' && latest;
		});
	}

	it('places exactly the call that the form asks for', async () => {
		const execution = await submit('Asha Rao', '+91 98765 43210');
		expect(execution.status).toBe('success');
		expect(test.simulator.placedCalls()).toMatchObject([
			{
				phone: '+919876543210',
				callerName: 'Asha Rao',
				agentUuid: test.account.agentUuid,
			},
		]);
		const [placed] = test.simulator.placedCalls();
		const items = await test.n8n.output(execution.id, 'Place Call');
		expect(items.map(({ json }) => json.call_id)).toEqual([placed?.callId]);
	});

	it('says what to do about a number that cannot be called, and calls nobody', async () => {
		const execution = await submit('Farah Ali', '12');
		expect(execution.status).toBe('error');
		expect(test.simulator.placedCalls()).toEqual([]);
		const { error } = await test.n8n.runData(execution.id);
		expect(error?.description).toContain('phone_number is not a plausible number for IN');
	});

	it('does not call again when the answer was lost', async () => {
		test.simulator.faults.inject({ kind: 'resetAfter', match: { method: 'POST' }, times: 1 });
		const execution = await submit('Ravi Kumar', '9876543211');
		expect(execution.status).toBe('error');
		expect(test.simulator.callsTo('9876543211')).toBe(1);
		const { error } = await test.n8n.runData(execution.id);
		expect(error?.message).toContain('9876543211');
	});

	it('leaves the token in no file of n8n', async () => {
		expect(await test.filesHoldingToken()).toEqual([]);
	});
});
