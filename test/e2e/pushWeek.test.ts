import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { N8nDriver, type Execution, type Workflow } from '../n8n/driver';
import type { N8nServer } from '../n8n/server';
import { until } from '../n8n/until';
import { chain, node, webhook } from '../n8n/workflow';
import { dialects, fixtures, startSimulator, type Simulator } from '../simulator';
import { credentialFor, PACKAGE } from './calls';
import { removeServer, startServer } from './ownServer';

const NODE = 'Push';
const { campaigns, agents } = fixtures;
const NEW_A_DAY = 90;
const A_REQUEST = 30;
const phone = (index: number) => String(9_000_000_000 + index);
const phones = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => phone(from + index));
const match = { method: 'POST' };
const row = z.object({ phone: z.string(), push_status: z.string() });

/** A server of its own, because it is killed here. */
describe('the same growing sheet, pushed on seven days', () => {
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
				campaignId: String(campaigns.active),
				agentUuid: { __rl: true, mode: 'id', value: agents.full },
				options: { skipPushedBefore: true, output: 'rows', contactsPerRequest: A_REQUEST },
			},
			{ credentials: await credentialFor(n8n, simulator), onError: 'continueRegularOutput' },
		);
		const split = node('Split', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: 'body.rows' });
		workflow = await n8n.createWorkflow(chain('week', webhook(path), split, push));
		await n8n.activate(workflow);
	}, 200_000);
	afterAll(async () => {
		await simulator.stop();
		await removeServer(server);
	});

	const sheetOf = (day: number) =>
		phones(0, day * NEW_A_DAY).map((number, index) => ({ row_number: index + 2, phone: number }));
	const begin = async (day: number) => await n8n.webhook(path, { rows: sheetOf(day) });
	const inCampaign = () => simulator.contactsOf(campaigns.active).map((contact) => contact.phone);
	const posts = () => simulator.requests.filter(({ method }) => method === 'POST').length;

	/** Pushes the sheet of a day, and gives back the numbers by what their rows say. */
	async function push(day: number): Promise<Map<string, string[]>> {
		const before = await n8n.executions(workflow);
		await begin(day);
		const execution = await until('the execution', async (): Promise<Execution | false> => {
			const [latest] = await n8n.executions(workflow);
			return latest !== undefined && latest.id !== before[0]?.id && latest;
		});
		expect((await n8n.finished(execution.id)).status).toBe('success');
		const items: INodeExecutionData[] = [];
		for (const output of [0, 1]) items.push(...(await n8n.output(execution.id, NODE, output)));
		const rows = items.map(({ json }) => row.parse(json));
		// Each row once over both outputs.
		expect(rows.map((each) => each.phone).sort()).toEqual(phones(0, day * NEW_A_DAY));
		const byStatus = new Map<string, string[]>();
		for (const each of rows) {
			byStatus.set(each.push_status, [...(byStatus.get(each.push_status) ?? []), each.phone]);
		}
		return byStatus;
	}

	const ofDay = (day: number, from = 0, to = NEW_A_DAY) =>
		phones((day - 1) * NEW_A_DAY + from, (day - 1) * NEW_A_DAY + to);
	const upTo = (day: number) => phones(0, day * NEW_A_DAY);

	it('days 1 and 2: what is new goes', async () => {
		expect(await push(1)).toEqual(new Map([['pushed', ofDay(1)]]));
		expect(await push(2)).toEqual(
			new Map([
				['pushed', ofDay(2)],
				['pushed_before', upTo(1)],
			]),
		);
	});

	it('day 3: n8n is killed while the second request is under way', async () => {
		const before = posts();
		simulator.faults.inject({ kind: 'hang', match, afterHandling: true, skip: 1, times: 1 });
		const cut = begin(3).catch((error: unknown) => error);
		await until('the second request to be taken', async () => posts() === before + 2);
		await until('the service to have it', async () => inCampaign().length === 2 * NEW_A_DAY + 60);
		await server.kill();
		expect(await cut).toBeInstanceOf(Error);
		await server.boot();
		n8n = await N8nDriver.signIn(server.baseUrl);
	}, 200_000);

	it('day 4: a request is rejected; the doubt of day 3 is named, and nobody is sent twice', async () => {
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
				['unknown', ofDay(3, 30, 60)],
				['pushed_before', [...upTo(2), ...ofDay(3, 0, 30)]],
				['not_sent', [...ofDay(3, 60), ...ofDay(4)]],
			]),
		);
	});

	it('day 5: the outcome of a request is unknown, and is named; what was rejected goes', async () => {
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
