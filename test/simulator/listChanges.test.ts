import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { call } from './testing/api';
import type { ListChange } from './state/listChanges';

const DND = `/v1/dnd_numbers?agent_uuid=${fixtures.agents.full}&per_page=2`;

describe('lists that change while they are read', () => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect: dialects.plain });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const shown = async (path: string, field: string): Promise<unknown[]> => {
		const { data } = (await call(sim, 'GET', path)).body;
		if (!Array.isArray(data)) throw new Error('There is no list');
		return data.map((entry: Record<string, unknown>) => entry[field]);
	};
	const phones = async () => await shown(DND, 'phone');
	const ids = async () => await shown('/v1/calls?per_page=2', 'call_id');
	const plan = (change: ListChange) => sim.listChanges.plan(change);

	it('change once, before the chosen request', async () => {
		plan({ list: 'dnd', kind: 'shrink', after: 1 });
		const [first, second] = await phones();
		expect((await phones())[0]).toBe(second);
		expect((await phones())[0]).toBe(second);
		expect(first).toBe(fixtures.dndPhone);
	});

	it('grow at the end for numbers, and at the beginning for calls', async () => {
		const before = [await phones(), await ids()];
		plan({ list: 'dnd', kind: 'grow' });
		plan({ list: 'calls', kind: 'grow' });
		expect(await phones()).toEqual(before[0]);
		expect((await ids())[1]).toBe(before[1]?.[0]);
		expect((await call(sim, 'GET', DND)).body.meta).toMatchObject({ total_count: 122 });
	});

	it('can replace an entry with a new one at another index', async () => {
		plan({ list: 'dnd', kind: 'replace' });
		expect(await phones()).not.toContain(fixtures.dndPhone);
		expect(await shown(`${DND}&page=61`, 'phone')).toEqual([fixtures.dndPhone]);
		expect((await call(sim, 'GET', DND)).body.meta).toMatchObject({ total_count: 121 });
	});

	it('can move their last entry to the front', async () => {
		const [last] = await shown(`${DND}&page=61`, 'phone');
		plan({ list: 'dnd', kind: 'reorder' });
		expect((await phones())[0]).toBe(last);
	});

	it('can be changed from another process', async () => {
		const change = { list: 'calls', kind: 'reorder' };
		const oldest = await shown('/v1/calls?per_page=1&page=40', 'call_id');
		const control = async (body: object) =>
			(await call(sim, 'POST', '/__simulator/listChange', body, null)).status;
		expect(await control(change)).toBe(200);
		expect((await ids())[0]).toBe(oldest[0]);
		expect(await control({ ...change, kind: 'vanish' })).toBe(400);
		expect(await control({ ...change, list: 'chats' })).toBe(400);
	});
});

describe('a link to the next page', () => {
	it('is complete, and is rejected with other parameters', async () => {
		const sim = await startSimulator({ dialect: dialects.nested });
		const first = await call(sim, 'GET', '/v1/calls?take=3&where.outcome=failed');
		const link = /"onward":"([^"]+)"/.exec(JSON.stringify(first.body))?.[1] ?? '';
		const next = await call(sim, 'GET', `/v1/calls${link}`);
		expect(JSON.stringify(next.body).match(/"about"/g)).toHaveLength(3);
		expect(next.body.meta).toEqual(first.body.meta);
		const added = await call(sim, 'GET', `/v1/calls${link}&take=3`);
		expect(added).toMatchObject({ status: 400, body: { success: false } });
		await sim.stop();
	});
});

describe('a service with one request at a time', () => {
	it('rejects earlier requests with Retry-After', async () => {
		const sim = await startSimulator({ dialect: dialects.plain, minGapMs: 1_000 });
		expect((await call(sim, 'GET', DND)).status).toBe(200);
		expect((await call(sim, 'GET', DND)).status).toBe(429);
		expect(sim.requests.at(-1)?.outcome.status).toBe(429);
		sim.clock.advance(1_000);
		expect((await call(sim, 'GET', DND)).status).toBe(200);
		await sim.stop();
	});
});
