import type { INodeParameters } from 'n8n-workflow';
import {
	engineTool,
	hintsOf,
	inTwoBranches,
	oneNodeWorkflow,
	output,
	records,
	retryFailed,
	runKilled,
	runWorkflow,
	service,
} from '../../engine';
import { WITH_PROFILE, dndHarness, listOf, PATH } from './dndHarness';

const ALL: INodeParameters = { allAgents: true, phone: '={{ $json.phone }}' };
const add = dndHarness('add', ALL);
const remove = dndHarness('remove', ALL);
const check = dndHarness('check', ALL);
const credential = WITH_PROFILE;
const ASHA = '+919812345678';
const RAVI = '+919812345679';
const items = [{ phone: ASHA }, { phone: RAVI }];
const CONTINUE = { onError: 'continueRegularOutput' } as const;
const SALES = { agent_uuid: 'agent_a1', agent_name: 'Sales' };
const SUPPORT = { agent_uuid: 'agent_b2', agent_name: 'Support' };
const RENEWALS = { agent_uuid: 'agent_c3', agent_name: 'Renewals' };
const NO_AGENT = 'The service found no such agent in the account of this API token';
const NOT_FOUND = { success: false, error: 'agent_not_found' };

const agents = (data: unknown = [SALES, SUPPORT, RENEWALS], more: object = {}) =>
	service()
		.get('/v1/active_agents')
		.reply(200, { success: true, data, ...more });

/** The service accepts this number on the list of this agent. */
const additionOf = (agent: { agent_uuid: string }, phone = ASHA) =>
	service().post(PATH, { add_agent: agent.agent_uuid, add_phone: phone });
const accept = (agent: { agent_uuid: string }, phone?: string) =>
	additionOf(agent, phone).reply(200, { success: true, data: { id: 7 } });

const nodeOf = async (overrides: object = {}) =>
	await add.nodeWith(credential, 'dnd', {
		parameters: { operation: 'add', ...ALL },
		...overrides,
	});
const asInput = (rows: Array<{ phone: string }>) => rows.map((json) => ({ json }));

describe('Add', () => {
	test('adds each number to the list of each active agent, which it reads once, and pairs them with the row', async () => {
		agents();
		for (const { phone } of items) {
			for (const agent of [SALES, SUPPORT, RENEWALS]) accept(agent, phone);
		}
		const run = await add.run({}, { items, credential });
		expect(output(run, 'Node')).toEqual(
			items.flatMap(({ phone }, item) =>
				[SALES, SUPPORT, RENEWALS].map((agent) => ({
					json: { phone, id: 7, ...agent },
					pairedItem: { item },
				})),
			),
		);
		expect(hintsOf(run)).toEqual([]);
	});

	test('with Continue, the agent that rejects a number does not take the others with it', async () => {
		agents();
		for (const { phone } of items) {
			accept(SALES, phone);
			additionOf(SUPPORT, phone).reply(422, NOT_FOUND);
			accept(RENEWALS, phone);
		}
		const run = await add.run({}, { items, credential, overrides: CONTINUE });
		expect(records(run)).toMatchObject(
			[0, 1].flatMap((item) => [
				SALES,
				{
					error: `${NO_AGENT} [row ${item + 1}, Support, agent_b2]`,
					details: { item, outcome: 'rejected' },
				},
				RENEWALS,
			]),
		);
		expect(hintsOf(run)).toEqual([
			'6 lists: 4 done, 2 rejected. The output has one item for each.',
		]);
	});

	test('otherwise, all agents of the number are tried, and a retry sends only what was not done', async () => {
		agents();
		accept(SALES);
		additionOf(SUPPORT).reply(422, NOT_FOUND);
		accept(RENEWALS);
		const node = await nodeOf();
		const { workflow } = oneNodeWorkflow(node);
		const failed = await add.run({}, { items, credential });
		const { error } = failed.data.resultData;
		expect(error?.message).toBe(`${NO_AGENT} [row 1, Support, agent_b2]`);
		expect(error?.description).toContain('Completed in this run: 2 of 6 requests.');

		agents();
		accept(SUPPORT);
		for (const agent of [SALES, SUPPORT, RENEWALS]) accept(agent, RAVI);
		expect(records(await retryFailed(failed, workflow))).toHaveLength(6);
	});

	test('a second branch with an invalid number does not speak of an earlier attempt', async () => {
		agents([SALES, SUPPORT]);
		agents([SALES, SUPPORT]);
		accept(SALES);
		accept(SUPPORT);
		const phone = `={{ $runIndex === 0 ? "${ASHA}" : "later" }}`;
		const node = await nodeOf({ parameters: { operation: 'add', ...ALL, phone } });
		const { workflow, start } = inTwoBranches(node);
		const run = await runWorkflow(workflow, start, asInput(items.slice(0, 1)));
		const { description } = run.data.resultData.error ?? {};
		expect(description).toContain('Nothing was sent or changed in this run. To send the items');
	});

	test('an unknown outcome stays unknown in a retry, also if the agent is not active any more', async () => {
		agents();
		accept(SALES);
		additionOf(SUPPORT).reply(502, '');
		accept(RENEWALS);
		const [one] = items;
		const failed = await add.run({}, { items: [one ?? {}], credential });
		expect(failed.data.resultData.error?.message).toMatch(
			/the outcome is unknown \(\+919812345678\) \[Support, agent_b2\]$/,
		);

		agents([SALES, RENEWALS]);
		const { workflow } = oneNodeWorkflow(await nodeOf(CONTINUE));
		const retried = await retryFailed(failed, workflow);
		expect(records(retried)).toMatchObject([
			SALES,
			{ error: expect.stringContaining('Support, agent_b2'), details: { outcome: 'unknown' } },
			RENEWALS,
		]);
		expect(hintsOf(retried)).toEqual([
			'3 lists: 2 done, 1 unknown. The output has one item for each.',
		]);
	});

	test('after n8n was killed, a retry adds the number to all lists again, because twice does no harm', async () => {
		agents([SALES, SUPPORT]);
		accept(SALES);
		accept(SUPPORT);
		const { workflow, start } = oneNodeWorkflow(await nodeOf());
		const begun = await runKilled(workflow, start, asInput(items.slice(0, 1)));

		agents([SALES, SUPPORT]);
		accept(SALES);
		accept(SUPPORT);
		expect(records(await retryFailed({ data: begun }, workflow))).toMatchObject([SALES, SUPPORT]);
	});

	test('an invalid number fails alone', async () => {
		agents([SALES, SUPPORT]);
		accept(SALES, RAVI);
		accept(SUPPORT, RAVI);
		const found = await add.records(
			{},
			{ items: [{ phone: 'call me' }, { phone: RAVI }], credential, overrides: CONTINUE },
		);
		expect(found.map((one) => one.agent_name ?? one.error)).toEqual([
			expect.stringContaining('\'Phone\' "call me"'),
			expect.stringContaining('\'Phone\' "call me"'),
			'Sales',
			'Support',
		]);
	});

	test('an invalid number stops the node before anything is sent, with no word of other items', async () => {
		agents([SALES, SUPPORT]);
		const { message, description } = await add.errorOf({}, { items: [{ phone: 'x' }], credential });
		expect(message).toBe("'Phone' \"x\" isn't a phone number [Sales, agent_a1]");
		expect(description).not.toContain('other items');
	});

	test.each<[string, () => unknown, string, string]>([
		[
			'has more agents than it shows',
			() => agents([SALES, SUPPORT], { meta: { total_pages: 2 } }),
			'The response has only 2 of the active agents, so nothing was sent',
			"Turn off 'All Agents'",
		],
		[
			'is empty',
			() => agents([]),
			'The account has no active agent, so nothing was sent',
			"Turn off 'All Agents'",
		],
		[
			'is not recognized',
			() => agents([{ id: 5 }]),
			'The response has no recognizable list of active agents',
			'Ask your service provider for "agents"',
		],
		[
			'cannot be read',
			() => service().get('/v1/active_agents').times(4).reply(503, ''),
			'The service or a proxy returned HTTP status 503',
			'',
		],
	])('sends nothing if the list of agents %s', async (_how, respond, message, advice) => {
		respond();
		expect(await add.errorOf({}, { items, credential })).toMatchObject({
			message,
			description: expect.stringContaining(advice),
		});
		respond();
		const failed = await add.run({}, { items, credential, overrides: CONTINUE });
		expect(records(failed)).toMatchObject(items.map(() => ({ details: { outcome: 'not_sent' } })));
	});
});

describe('as a tool', () => {
	const row = { phone: ASHA };
	const tool = async () => engineTool(await nodeOf(), { row });

	test('adds the number to all lists', async () => {
		agents();
		for (const agent of [SALES, SUPPORT, RENEWALS]) accept(agent);
		const request = await tool();
		expect(await request()).toMatchObject({
			outcome: 'done',
			what_happened: `${ASHA} was added to the do-not-disturb lists of 3 agents.`,
			result: [SALES, SUPPORT, RENEWALS],
		});
	});

	test('reports what was done if an agent rejects the number', async () => {
		agents();
		accept(SALES);
		additionOf(SUPPORT).reply(422, NOT_FOUND);
		accept(RENEWALS);
		const request = await tool();
		expect(await request()).toMatchObject({
			outcome: 'partly_done',
			what_happened: expect.stringContaining('The service found no such agent'),
			result: {
				completed: [SALES, RENEWALS],
				// Without advice on the agent, which the model doesn't choose.
				rejected: [`[Support, agent_b2] ${NO_AGENT}. The service said: agent_not_found.`],
			},
		});
	});

	test('an unknown outcome of one agent is reported as unknown', async () => {
		agents();
		additionOf(SALES).reply(422, NOT_FOUND);
		additionOf(SUPPORT).reply(502, '');
		accept(RENEWALS);
		expect(await (await tool())()).toMatchObject({
			outcome: 'unknown',
			result: { completed: [RENEWALS], rejected: [expect.anything(), expect.anything()] },
		});
	});
});

describe('Remove', () => {
	const removalOf = (agent: { agent_uuid: string }, phone = ASHA) =>
		service().delete(PATH, { remove_agent: agent.agent_uuid }).query({ phone });
	const NOT_LISTED = { success: false, error: 'Phone number not found on DND list' };

	test('removes the number from the lists that have it, and counts the others', async () => {
		agents();
		removalOf(SALES).reply(200, { success: true, message: 'Removed' });
		removalOf(SUPPORT).reply(404, NOT_LISTED);
		removalOf(RENEWALS).reply(404, NOT_LISTED);
		const run = await remove.run({}, { items: items.slice(0, 1), credential });
		expect(records(run)).toMatchObject([
			{ deleted: true, phone: ASHA, was_listed: true, ...SALES },
			{ deleted: true, phone: ASHA, was_listed: false, ...SUPPORT },
			{ deleted: true, phone: ASHA, was_listed: false, ...RENEWALS },
		]);
		expect(hintsOf(run)).toEqual([
			'3 lists: 1 done, 2 not listed. The output has one item for each.',
		]);
	});

	test('as a tool, does not say that a number was on none of the lists if one had it', async () => {
		agents();
		removalOf(SALES).reply(200, { success: true, message: 'Removed' });
		removalOf(SUPPORT).reply(404, NOT_LISTED);
		removalOf(RENEWALS).reply(404, NOT_LISTED);
		const parameters = { operation: 'remove', ...ALL };
		const tool = engineTool(await nodeOf({ parameters }), { row: { phone: ASHA } });
		expect(await tool()).toMatchObject({
			outcome: 'done',
			what_happened: `${ASHA} is on none of the do-not-disturb lists of 3 agents now. 3 lists: 1 done, 2 not listed.`,
			result: [{ was_listed: true }, { was_listed: false }, { was_listed: false }],
		});
	});
});

describe('Check', () => {
	const emptyListOf = (agent: { agent_uuid: string }) =>
		service()
			.get(PATH)
			.query(({ list_agent }) => list_agent === agent.agent_uuid)
			// An empty answer to two digits is checked with all digits.
			.times(2)
			.reply(200, listOf());
	const one = items.slice(0, 1);

	test('with Continue, a list that cannot be read fails alone, and never counts as not listed', async () => {
		agents([SALES, SUPPORT]);
		emptyListOf(SALES);
		service().get(PATH).query(true).reply(422, NOT_FOUND);
		const setting = { items: one, credential, overrides: CONTINUE };
		expect(await check.records({}, setting)).toMatchObject([
			{ on_dnd: false, ...SALES },
			{ on_dnd: true, error: `${NO_AGENT} [Support, agent_b2]` },
		]);
	});

	test('with Continue, no number counts as not listed if the agents are not all known', async () => {
		agents([SALES], { meta: { total_count: 2 } });
		const found = await check.records({}, { items, credential, overrides: CONTINUE });
		expect(found).toMatchObject(
			[0, 1].map((item) => ({
				on_dnd: true,
				error: `The response has only 1 of the active agents, so nothing was sent [row ${item + 1}]`,
			})),
		);
	});
});
