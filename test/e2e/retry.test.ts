import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import type { Execution } from '../n8n/driver';
import { until } from '../n8n/until';
import { byId, chain, executeSub, node, subTrigger } from '../n8n/workflow';
import { fixtures } from '../simulator';
import { useAccount } from './account';
import { allExecutions, callIdOf } from './calls';
import type { Arrow } from './callingAgent';
import { n8nFolder } from './n8nFolder';
import { executeFlow, flowOnRows } from './rowRun';

const PEOPLE = ['9000000001', '9000000002', '9000000003'] as const;
const [FIRST] = PEOPLE;

const account = useAccount({ isMapped: true });
const { n8n, simulator, ours, placeCall, publish, start } = account;

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
		options: { contactsPerRequest: 20 },
	};
	const push = ours('Push', 'pushCampaignContacts', parameters);
	const contacts = () => simulator.contactsOf(fixtures.campaigns.active);
	const descriptionOf = async ({ id }: Execution) => (await n8n.runData(id)).error?.description;

	simulator.faults.inject({ kind: 'resetAfter', match: { method: 'POST' }, skip: 1, times: 1 });
	const failed = await failedExecution([FIRST], [read, push]);
	expect(await descriptionOf(failed)).toMatch(
		/\nPushed: 20 rows \(rows 2 to 21, [^]*\nUnknown: 20 rows \(rows 22 to 41\)[^]*\nNot sent: 10 rows \(rows 42 to 51\)/,
	);
	expect(contacts().map(({ phone }) => phone)).toEqual(inCampaign.slice(0, 40));

	const again = await n8n.retry(failed.id, 'original');
	const third = await n8n.retry(again.id, 'current');
	expect([again.status, third.status]).toEqual(['error', 'error']);
	expect(contacts().map(({ phone }) => phone)).toEqual(inCampaign);
	expect(contacts()[49]).toMatchObject({ personName: 'Person, 49', extra: { city: 'Köln' } });
	expect(await descriptionOf(third)).toMatch(
		/\n50 rows: 0 pushed, 30 sent before, 20 unknown\.\nUnknown: 20 rows \(rows 22 to 41\)/,
	);
});
