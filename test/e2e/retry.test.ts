/** Retries, sub-workflows, and Stop, of which only n8n's server knows what it runs again. */
import type { INode } from 'n8n-workflow';
import { until } from '../n8n/until';
import { chain, executeSub, node, subTrigger, type Arrow } from '../n8n/workflow';
import { useAccount } from './account';
import { allExecutions, callIdOf } from './calls';
import { executeFlow, flowOnRows } from './rowRun';

const PEOPLE = ['9000000001', '9000000002', '9000000003'] as const;
const [FIRST] = PEOPLE;

const account = useAccount({ isMapped: true });
const { n8n, simulator, placeCall, publish, start } = account;

afterEach(() => simulator.reset());

const stop = node('Stop', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'as it happens' });

/** Starts a workflow that fails. */
async function failedExecution(people: readonly string[], nodes: INode[], settings = {}) {
	const { id } = await start(people, nodes, settings);
	const failed = await n8n.finished(id);
	expect(failed.status).toBe('error');
	return failed;
}

const counts = () => PEOPLE.map((phone) => simulator.callsTo(phone));

test.each(['original', 'current'] as const)(
	'Retry with the %s workflow calls nobody again, and continues with the rejected call and the ones after it',
	async (which) => {
		const body = { success: false, error: 'phone_number is implausible' };
		const match = { path: '/v1/call' };
		simulator.faults.inject({ kind: 'status', status: 400, body, match, skip: 1, times: 1 });
		const failed = await failedExecution(PEOPLE, [placeCall()]);
		expect(counts()).toEqual([1, 0, 0]);
		const again = await n8n.retry(failed.id, which);
		expect(again.status).toBe('success');
		expect(counts()).toEqual([1, 1, 1]);
		const placed = simulator.placedCalls().map(({ callId }) => callId);
		expect((await n8n.output(again.id, 'Place Call')).map(callIdOf)).toEqual(placed);
	},
);

test('an error workflow calls the person on duty for each failed attempt', async () => {
	const trigger = node('On Error', 'n8n-nodes-base.errorTrigger', 1);
	const errors = await publish(chain('on error', trigger, placeCall({ phoneNumber: FIRST })));
	const failed = await failedExecution([FIRST], [stop], { errorWorkflow: errors.id });
	const untilCalled = async (times: number) => await until('the call', () => counts()[0] === times);
	await untilCalled(1);
	expect((await n8n.retry(failed.id, 'original')).status).toBe('error');
	await untilCalled(2);
});

const inEditor = async (nodes: INode[]) => {
	const rows = PEOPLE.map((phone) => ({ phone }));
	const arrows = nodes.map(({ name }): Arrow => ['Rows', name]);
	return await executeFlow(account, flowOnRows(rows, nodes, arrows));
};

test.each([
	['is published', async (nodes: INode[]) => await failedExecution(PEOPLE, nodes)],
	['is executed in the editor', inEditor],
])(
	'if the parent workflow %s, its retry does not repeat calls that its sub-workflow has placed',
	async (_how, execute) => {
		const sub = await publish(chain('called by another', subTrigger(), placeCall(), stop));
		const failed = await execute([executeSub(sub.id)]);
		expect((await n8n.retry(failed.id, 'original')).status).toBe('error');
		const [latest, ...before] = await allExecutions(n8n, sub);
		expect(before).toHaveLength(1);
		expect((await n8n.runData(latest?.id ?? '')).error?.message).toContain(
			'An earlier run or attempt of this execution may have sent this',
		);
		expect(counts()).toEqual([1, 1, 1]);
	},
);

test('after an unknown outcome, On Error > Continue and Retry call each of the others once', async () => {
	simulator.faults.inject({ kind: 'resetAfter', match: { path: '/v1/call' }, skip: 1, times: 1 });
	const { id, workflow, nodes } = await start(PEOPLE, [placeCall()]);
	await n8n.finished(id);
	const { error } = await n8n.runData(id);
	expect(error?.description).toMatch(
		/set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow'/,
	);
	const onError = 'continueRegularOutput' as const;
	const changed = nodes.map((one) => (one.name === 'Place Call' ? { ...one, onError } : one));
	await n8n.updateWorkflow(workflow, { nodes: changed });
	expect((await n8n.retry(id, 'current')).status).toBe('success');
	expect(counts()).toEqual([1, 1, 1]);
});

test('with Retry On Fail of Execute Sub-workflow, a sub-workflow calls a person once', async () => {
	const sub = await publish(chain('fails', subTrigger(), placeCall(), stop));
	const again = { retryOnFail: true, maxTries: 2, waitBetweenTries: 100 };
	await inEditor([{ ...executeSub(sub.id), ...again }]);
	expect(await allExecutions(n8n, sub)).toHaveLength(2);
	expect(counts()).toEqual([1, 1, 1]);
});

test.each([
	['Stop of a parent does not stop its sub-workflow', 'parent', 3],
	['Stop of the sub-workflow ends both', 'sub', 1],
] as const)('%s', async (_what, stopped, called) => {
	const sub = await publish(chain('calls', subTrigger(), placeCall()));
	const release = simulator.holdResponses(/^\/v1\/call$/);
	const { id } = await start(PEOPLE, [executeSub(sub.id)]);
	await until('the first call', () => simulator.placedCalls().length === 1);
	const subId = await account.executionOf(sub);
	await n8n.request('POST', `/executions/${stopped === 'parent' ? id : subId}/stop`);
	release();
	expect(await n8n.finished(id)).toMatchObject({ status: 'canceled' });
	const subStatus = stopped === 'parent' ? 'success' : 'canceled';
	expect(await n8n.finished(subId)).toMatchObject({ status: subStatus });
	expect(simulator.placedCalls()).toHaveLength(called);
});
