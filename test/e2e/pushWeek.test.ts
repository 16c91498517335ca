import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { N8nDriver, type Execution, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { byId, chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { credentialFor, PACKAGE } from './calls';
import { removeServer, startServer } from './ownServer';

const NODE = 'Push';
const { campaigns, agents } = fixtures;
const NEW_PER_DAY = 90;
const ROWS_PER_REQUEST = 30;
const phone = (index: number) => String(9_000_000_000 + index);
const phones = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => phone(from + index));
const match = { method: 'POST' };
const row = z.object({ phone: z.string(), push_status: z.string() });

/** Starts its own n8n, because the tests kill it. */
describe('a growing sheet, pushed on seven days', () => {
	let server: N8nServer;
	let n8n: N8nDriver;
	let simulator: Simulator;
	let workflow: Workflow;
	const path = randomUUID();

	beforeAll(async () => {
		server = await startServer();
		simulator = await startSimulator({ dialect: dialects.plain, token: 'week-token-00001' });
		n8n = await N8nDriver.signIn(server.baseUrl);
		const push = node(
			NODE,
			`${PACKAGE}.pushCampaignContacts`,
			1,
			{
				campaignId: byId(campaigns.active),
				agentUuid: { __rl: true, mode: 'id', value: agents.full },
				options: { skipPushedBefore: true, output: 'rows' },
				developerSettings: { contactsPerRequest: ROWS_PER_REQUEST },
			},
			{ credentials: await credentialFor(n8n, simulator), onError: 'continueRegularOutput' },
		);
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' });
		workflow = await n8n.createWorkflow(chain('week', webhook(path), split, push));
		await n8n.activate(workflow);
	});
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	const sheetOf = (day: number) =>
		phones(0, day * NEW_PER_DAY).map((number, index) => ({ row_number: index + 2, phone: number }));
	const startPush = async (day: number) => await n8n.webhook(path, { rows: sheetOf(day) });
	const inCampaign = () => simulator.contactsOf(campaigns.active).map((contact) => contact.phone);
	const posts = () => simulator.requests.filter(({ method }) => method === 'POST').length;

	/** Pushes the sheet of a day. Returns the numbers by status. */
	async function push(day: number): Promise<Map<string, string[]>> {
		const before = await n8n.executions(workflow);
		await startPush(day);
		const execution = await until('the execution', async (): Promise<Execution | false> => {
			const [latest] = await n8n.executions(workflow);
			return latest !== undefined && latest.id !== before[0]?.id && latest;
		});
		expect((await n8n.finished(execution.id)).status).toBe('success');
		const items: INodeExecutionData[] = [];
		for (const output of [0, 1]) items.push(...(await n8n.output(execution.id, NODE, output)));
		const rows = items.map(({ json }) => row.parse(json));
		// Each row is in one of the outputs, once.
		expect(rows.map((each) => each.phone).sort()).toEqual(phones(0, day * NEW_PER_DAY));
		const byStatus = new Map<string, string[]>();
		for (const each of rows) {
			byStatus.set(each.push_status, [...(byStatus.get(each.push_status) ?? []), each.phone]);
		}
		return byStatus;
	}

	const ofDay = (day: number, from = 0, to = NEW_PER_DAY) =>
		phones((day - 1) * NEW_PER_DAY + from, (day - 1) * NEW_PER_DAY + to);
	const upTo = (day: number) => phones(0, day * NEW_PER_DAY);

	it('days 1 and 2: pushes only new rows', async () => {
		expect(await push(1)).toEqual(new Map([['pushed', ofDay(1)]]));
		expect(await push(2)).toEqual(
			new Map([
				['pushed', ofDay(2)],
				['pushed_before', upTo(1)],
			]),
		);
	});

	it('day 3: n8n is killed during the second request', async () => {
		const before = posts();
		simulator.faults.inject({ kind: 'hang', match, afterHandling: true, skip: 1, times: 1 });
		const cut = startPush(3).catch((error: unknown) => error);
		await until('the second request', async () => posts() === before + 2);
		await until('its contacts', async () => inCampaign().length === 2 * NEW_PER_DAY + 60);
		await server.kill();
		expect(await cut).toBeInstanceOf(Error);
		await server.boot();
		n8n = await N8nDriver.signIn(server.baseUrl);
	});

	it('day 4: leaves out the rows that day 3 began to push, reports a rejected request, and sends nothing twice', async () => {
		simulator.faults.inject({
			kind: 'status',
			match,
			status: 409,
			times: 1,
			body: { success: false, error: 'Campaign is locked for a moment' },
		});
		const byStatus = await push(4);
		expect(byStatus).toEqual(
			new Map([
				['pushed_before', [...upTo(2), ...ofDay(3, 0, 60)]],
				['not_sent', [...ofDay(3, 60), ...ofDay(4)]],
			]),
		);
	});

	it('day 5: reports a request with an unknown outcome, and pushes the rows that were rejected', async () => {
		simulator.faults.inject({ kind: 'resetAfter', match, skip: 4, times: 1 });
		const byStatus = await push(5);
		expect(byStatus.get('pushed')).toEqual([...ofDay(3, 60), ...ofDay(4)]);
		expect(byStatus.get('unknown')).toEqual(ofDay(5, 0, 30));
		expect(byStatus.get('not_sent')).toEqual(ofDay(5, 30));
	});

	it('days 6 and 7: every number is in the campaign exactly once', async () => {
		expect((await push(6)).get('pushed')).toEqual([...ofDay(5, 30), ...ofDay(6)]);
		const last = await push(7);
		expect([...last.keys()].sort()).toEqual(['pushed', 'pushed_before']);
		expect(last.get('pushed')).toEqual(ofDay(7));
		expect(inCampaign().sort()).toEqual(upTo(7).map((number) => `+91${number}`));
	});
});
