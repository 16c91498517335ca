import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { call, sent } from './testing/api';

const agent = fixtures.agents.full;

describe.each(Object.values(dialects))('do-not-disturb lists, dialect $name', (dialect) => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	/** Sends each value in the place of the dialect. */
	const dnd = async (
		method: string,
		values: Record<string, string>,
		inQuery: string[] = Object.keys(values),
	) => {
		const { query, body } = sent(values, inQuery);
		const given = Object.keys(body).length === 0 ? undefined : body;
		return await call(sim, method, `/v1/dnd_numbers${query}`, given);
	};
	const add = async (phone: string, rest: Record<string, string> = {}) => {
		const names = dialect.dnd.add;
		const values = { [names.agent]: agent, [names.phone]: phone, ...rest };
		const { placement, agentPlacement = placement } = names;
		const others = placement === 'query' ? [names.phone, names.reason] : [];
		const inQuery = [...others, ...(agentPlacement === 'query' ? [names.agent] : [])];
		return await dnd('POST', values, inQuery);
	};
	const list = async (rest: Record<string, string> = {}) =>
		await dnd('GET', { [dialect.dnd.list.agent]: agent, ...rest });

	it('accepts the number formats of the dialect', async () => {
		const spaced = await add('+91 98000 00002');
		expect(spaced.body.success).toBe(dialect.dnd.phoneForms === 'any');
		const national = await add('9800000003');
		expect(national.body.success).toBe(dialect.dnd.phoneForms !== 'international');
	});

	it('ignores values in the wrong place', async () => {
		const names = dialect.dnd.add;
		const values = { [names.agent]: agent, [names.phone]: '+919800000004' };
		const { placement, agentPlacement = placement } = names;
		const got = await dnd('POST', values, agentPlacement === 'query' ? [] : Object.keys(values));
		expect(got.body).toMatchObject({ success: false, error: 'agent_not_found' });
	});

	it("lists pages of the dialect's size, capped at 100", async () => {
		const first = await list();
		expect(first.body.data).toHaveLength(dialect.dnd.defaultPerPage);
		expect(first.body.meta).toEqual({
			current_page: dialect.dnd.firstPage ?? 1,
			total_pages: Math.ceil(121 / dialect.dnd.defaultPerPage),
			total_count: 121,
			per_page: dialect.dnd.defaultPerPage,
		});
		const { page, perPage } = dialect.dnd.list;
		const second = await list({
			[page]: String((dialect.dnd.firstPage ?? 1) + 1),
			[perPage]: '100',
		});
		expect(second.body.data).toHaveLength(21);
		const over = await list({ [perPage]: '101' });
		if (dialect.dnd.overCap === 'clamped')
			expect(over.body).toMatchObject({ meta: { per_page: 100 } });
		else expect(over.status).toBe(dialect.validation.status);
	});
});
