import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import type { Execution } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, node } from '../n8n/workflow';
import { fixtures, type Fault } from '../simulator';
import { useAccount } from './account';
import { allExecutions, callIdOf } from './calls';
import type { Arrow } from './callingAgent';
import { n8nFolder } from './n8nFolder';
import { executeFlow, flowOnRows } from './rowRun';

const NODE = 'Place Call';
const PEOPLE = ['9000000001', '9000000002', '9000000003'] as const;
const [FIRST, SECOND] = PEOPLE;

const account = useAccount({ isMapped: true });
const { n8n, simulator, ours, placeCall, publish, start } = account;

afterEach(() => simulator.reset());

const stop = node('Stop', 'n8n-nodes-base.stopAndError', 1, { errorMessage: 'as it happens' });

/** Starts a workflow that fails. Returns it, its nodes, and its execution. */
async function failedExecution(people: readonly string[], nodes: INode[], settings = {}) {
	const { id, ...started } = await start(people, nodes, settings);
	const failed = await n8n.finished(id);
	expect(failed.status).toBe('error');
	return { ...started, failed };
}

/** The second of three calls fails. */
async function failedCalls(fault: Fault) {
	simulator.faults.inject({ ...fault, match: { path: '/v1/call' }, skip: 1, times: 1 });
	const execution = await failedExecution(PEOPLE, [placeCall()]);
	expect(counts()).toMatchObject([1, expect.any(Number), 0]);
	return execution;
}

const counts = () => PEOPLE.map((phone) => simulator.callsTo(phone));
const callIds = async (execution: Execution) =>
	(await n8n.output(execution.id, NODE)).map(callIdOf);

const REJECTED = { success: false, error: 'phone_number is implausible' };

test.each(['original', 'current'] as const)(
	'Retry with the %s workflow calls nobody again, and continues with the rejected call and the ones after it',
	async (which) => {
		const { failed } = await failedCalls({ kind: 'status', status: 400, body: REJECTED });
		const again = await n8n.retry(failed.id, which);
		expect(again.status).toBe('success');
		expect(counts()).toEqual([1, 1, 1]);
		const placed = simulator.placedCalls().map(({ callId }) => callId);
		expect(await callIds(again)).toEqual(placed);
	},
);

test('a call with an unknown outcome is not placed again, even after several retries, whatever was changed', async () => {
	const { workflow, failed, nodes } = await failedCalls({ kind: 'resetAfter' });
	const again = await n8n.retry(failed.id, 'original');
	const personName = `={{ $json.phone === "${SECOND}" ? "Asha" : "" }}`;
	const changed = nodes.map((each) => {
		if (each.name !== NODE) return each;
		return { ...each, parameters: { ...each.parameters, personName } };
	});
	await n8n.updateWorkflow(workflow, { nodes: changed });
	const third = await n8n.retry(again.id, 'current');
	expect([again.status, third.status]).toEqual(['error', 'error']);
	expect(counts()).toEqual([1, 1, 0]);
	expect((await n8n.runData(third.id)).error?.message).toContain(SECOND);
});

test('an error workflow calls the person on duty for each failed attempt', async () => {
	const trigger = node('On Error', 'n8n-nodes-base.errorTrigger', 1);
	const errors = await publish(chain('on error', trigger, placeCall({ phoneNumber: FIRST })));
	const { failed } = await failedExecution([FIRST], [stop], { errorWorkflow: errors.id });
	const untilCalled = async (times: number) => await until('the call', () => counts()[0] === times);
	await untilCalled(1);
	expect((await n8n.retry(failed.id, 'original')).status).toBe('error');
	await untilCalled(2);
});

const inEditor = async (nodes: INode[]) => {
	const rows = PEOPLE.map((phone) => ({ phone }));
	const arrows = nodes.map(({ name }): Arrow => ['Rows', name]);
	return { failed: await executeFlow(account, flowOnRows(rows, nodes, arrows)) };
};

test.each([
	['is published', async (nodes: INode[]) => await failedExecution(PEOPLE, nodes)],
	['is executed in the editor', inEditor],
])(
	'if the parent workflow %s, its retry does not repeat calls that its sub-workflow has placed',
	async (_how, execute) => {
		const called = node('Called', 'n8n-nodes-base.executeWorkflowTrigger', 1.1, {
			inputSource: 'passthrough',
		});
		const sub = await publish(chain('called by another', called, placeCall(), stop));
		const call = node('Call', 'n8n-nodes-base.executeWorkflow', 1.2, {
			workflowId: byId(sub.id),
			mode: 'once',
			workflowInputs: { mappingMode: 'defineBelow', value: {} },
		});
		const { failed } = await execute([call]);
		expect((await n8n.retry(failed.id, 'original')).status).toBe('error');
		const [latest, ...before] = await allExecutions(n8n, sub);
		expect(before).toHaveLength(1);
		expect((await n8n.runData(latest?.id ?? '')).error?.message).toContain(
			'An earlier attempt of this execution',
		);
		expect(counts()).toEqual([1, 1, 1]);
	},
);

test('a retry of a push from a file on disk sends only the rest, and no row that may have arrived', async () => {
	const phones = Array.from({ length: 50 }, (_, index) => String(9_000_000_000 + index));
	const inCampaign = phones.map((phone) => `+91${phone}`);
	const file = join(n8nFolder().files, `${randomUUID()}.csv`);
	const rows = phones.map((phone, index) => `"Person, ${index}";${phone};Köln`);
	await writeFile(file, `sep=;\r\nperson_name;phone;city\r\n${rows.join('\r\n')}\r\n`, 'latin1');
	const read = node('Read', 'n8n-nodes-base.readWriteFile', 1.1, { fileSelector: file });
	const parameters = {
		campaignId: byId(fixtures.campaigns.active),
		agentUuid: byId(fixtures.agents.full),
		whatToDo: 'wait',
		contactsFrom: 'csv',
		developerSettings: { contactsPerRequest: 20 },
	};
	const push = ours('Push', 'pushCampaignContacts', parameters);
	const contacts = () => simulator.contactsOf(fixtures.campaigns.active);
	const descriptionOf = async ({ id }: Execution) => (await n8n.runData(id)).error?.description;

	simulator.faults.inject({ kind: 'resetAfter', match: { method: 'POST' }, skip: 1, times: 1 });
	const { failed } = await failedExecution([FIRST], [read, push]);
	expect(await descriptionOf(failed)).toMatch(
		/\nPushed: 20 rows \(rows 2 to 21, [^]*\nUnknown: 20 rows \(rows 22 to 41\)[^]*\nNot sent: 10 rows \(rows 42 to 51\)/,
	);
	expect(contacts().map(({ phone }) => phone)).toEqual(inCampaign.slice(0, 40));

	const again = await n8n.retry(failed.id, 'original');
	const third = await n8n.retry(again.id, 'current');
	expect([again.status, third.status]).toEqual(['error', 'error']);
	expect(contacts().map(({ phone }) => phone)).toEqual(inCampaign);
	expect(contacts()[49]).toMatchObject({ personName: 'Person, 49', extra: { city: 'Köln' } });
	expect(await descriptionOf(third)).toMatch(/\nPushed: 30 rows .*\nUnknown: 20 rows/);
});

test('a retry of DND List with All Agents adds a number only to the lists that do not have it', async () => {
	const parameters = { operation: 'add', allAgents: true, phone: '={{ $json.phone }}' };
	const body = { success: false, error: 'agent_not_found' };
	const match = { method: 'POST', path: '/v1/dnd_numbers' };
	simulator.faults.inject({ kind: 'status', status: 422, body, match, skip: 1, times: 1 });
	const { failed } = await failedExecution([FIRST], [ours('Opt Out', 'dnd', parameters)]);
	const added = () => simulator.requests.filter(({ method }) => method === 'POST').length;
	expect(added()).toBe(4);
	const again = await n8n.retry(failed.id, 'original');
	expect(again.status).toBe('success');
	expect(added()).toBe(5);
	const lists = simulator.state.dnd.filter(({ phone }) => phone.endsWith(FIRST));
	expect(new Set(lists.map(({ agentUuid }) => agentUuid)).size).toBe(4);
	expect(await n8n.output(again.id, 'Opt Out')).toHaveLength(4);
});
