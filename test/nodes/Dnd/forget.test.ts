import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	engineHarness,
	engineTool,
	executeContext,
	inlineTool,
	mcpTool,
	output,
	runNode,
	service,
	skipSleeps,
} from '../../engine';
import { acceptCalls, CALL } from '../PlaceCall/placeCallHarness';
import {
	accepted,
	respondWith,
	phone,
	phonesOf,
	pushNode,
	rowsOf,
} from '../PushCampaignContacts/pushHarness';

const harness = engineHarness();
const { store } = harness;

/** Nodes of one workflow. Each has an ID of its own. */
const forgetNode = (parameters: INodeParameters = {}) =>
	harness.node('dnd', {
		id: 'forget',
		parameters: {
			resource: 'rememberedNumber',
			operation: 'forget',
			phone: '={{ $json.phone }}',
			...parameters,
		},
	});
const limited = { options: { callLimit: { limit: { maximumCalls: 1, days: 1 } } } };
const callNode = (id = 'call') =>
	harness.node('placeCall', {
		id,
		parameters: { ...CALL, phoneNumber: '={{ $json.phone }}', ...limited },
	});
const pushTo = (campaignId = '42') =>
	pushNode(harness, { campaignId, options: { skipPushedBefore: true } }, { id: 'push' });

const run = async (node: INode, input: INodeExecutionData[], sinks: string[] = []) =>
	await runNode(harness.credentials, node, input, sinks);
const forgetting = async (phones: unknown[], parameters: INodeParameters = {}) => {
	const rows = phones.map((one) => ({ phone: String(one) }));
	const ended = await run(forgetNode(parameters), rowsOf(...rows));
	return { items: output(ended, 'Node'), error: ended.data.resultData.error };
};
const called = async (...phones: string[]) => {
	const ended = await run(callNode(), rowsOf(...phones.map((one) => ({ phone: one }))));
	return output(ended, 'Node').map(({ json }) => json.placed);
};
const push = async (campaign: string, ...phones: string[]) =>
	output(
		await run(pushTo(campaign), rowsOf(...phones.map((one) => ({ phone: one }))), [
			'Pushed',
			'Rejected',
		]),
		'Node',
		1,
	).map(({ json }) => json.rejection_status);

afterEach(() => jest.restoreAllMocks());

beforeEach(() => {
	for (const id of [42, 43]) {
		service()
			.persist()
			.get(`/v1/campaigns/${id}/status`)
			.optionally()
			.reply(200, {
				success: true,
				data: { campaign: { id, status: 'Active' }, calls: {}, uploads: [] },
			});
	}
});

describe('Forget', () => {
	it('forgets the calls and pushes of all nodes of the workflow, in any format, and says where', async () => {
		acceptCalls(3);
		await called(phone(0), phone(1));
		respondWith([200, accepted(2)]);
		service().post('/v1/campaigns/43/contacts').reply(200, accepted(1));
		await push('42', phone(0), phone(1));
		await push('43', phone(0));
		const before = store.size;
		const { items } = await forgetting([`+91 ${phone(0)}`, phone(7)]);
		expect(items).toMatchObject([
			{
				json: { forgotten: true, forgotten_campaigns: [42, 43], forgotten_calls: true },
				pairedItem: { item: 0 },
			},
			{ json: { forgotten: false, forgotten_campaigns: [], forgotten_calls: false } },
		]);
		expect(JSON.stringify(items)).not.toContain(phone(0));
		expect(store.size).toBeLessThan(before);

		expect(await called(phone(0), phone(1))).toEqual([true, false]);
		const bodies = respondWith([200, accepted(1)]);
		expect(await push('42', phone(0), phone(1))).toEqual(['pushed_before']);
		expect(bodies.map(phonesOf)).toEqual([[phone(0)]]);
	});

	it('says what it does not reach, and what to do', async () => {
		const { items } = await forgetting([phone(0)]);
		const places = [
			'Other workflows',
			'Executions of n8n, with their recordings',
			'The service',
			'Sheets, CRMs, and other nodes',
		];
		expect(items[0]?.json.not_reached).toEqual(
			places.map((where) => ({ where, what_to_do: expect.stringMatching(/\.$/) })),
		);
	});

	it('forgets a number of another country', async () => {
		const abroad = { ...CALL, ...limited, countryCode: 'US', phoneNumber: '202 555 0123' };
		acceptCalls(1);
		await run(harness.node('placeCall', { id: 'call', parameters: abroad }), rowsOf({}));
		const { items } = await forgetting(['(202) 555-0123'], { countryCode: 'US' });
		expect(items).toMatchObject([{ json: { forgotten_calls: true } }]);
	});

	it('forgets all numbers', async () => {
		acceptCalls(2);
		await called(phone(0));
		const { items } = await forgetting(['any'], { numbersToForget: 'all' });
		expect(items).toMatchObject([{ json: { forgotten: 'all' } }]);
		expect(store.size).toBe(0);
		expect(await called(phone(0))).toEqual([true]);
	});

	it('forgets nothing if a number is not clear, and names its item', async () => {
		acceptCalls(1);
		await called(phone(0));
		const { size } = store;
		const { error } = await forgetting([phone(0), '2025550123']);
		expect(error?.message).toContain('\'Phone\' "2025550123" has no clear international format');
		expect(store.size).toBe(size);
	});

	it('interrupted halfway, a pushed number is unknown and is not sent', async () => {
		respondWith([200, accepted(1)]);
		await push('42', phone(0));
		let removals = 0;
		store.beforeCall = (made) => {
			// A number has two keys in a list. The search for lists removes more texts at a time.
			if (made === 'remove 1' && ++removals > 1) throw new Error('killed');
		};
		const { error } = await forgetting([phone(0)]);
		store.beforeCall = () => {};
		expect(error?.message).toContain("n8n can't read or write the numbers that it remembers");
		expect(await push('42', phone(0))).toEqual(['unknown']);
	});

	it.each([
		['an agent', engineTool],
		['an older agent', inlineTool],
		['an MCP client', mcpTool],
	])('is not possible for %s', async (_name, toolOf) => {
		acceptCalls(1);
		await called(phone(0));
		const { size } = store;
		const tool = toolOf(harness.credentials, forgetNode({ numbersToForget: 'all' }));
		expect(await tool()).toMatchObject({
			outcome: 'not_sent',
			what_happened: "A tool can't forget numbers, so nothing was forgotten.",
		});
		expect(store.size).toBe(size);
	});

	it('forgets a number although each access to the store takes two seconds', async () => {
		respondWith([200, accepted(1)]);
		await push('42', phone(0));
		const setTime = skipSleeps();
		store.beforeCall = (call) => {
			if (!call.startsWith('lock')) setTime(new Date(clock.now() + 2_000).toISOString());
		};
		expect((await forgetting([phone(0)])).items).toMatchObject([
			{ json: { forgotten: true, forgotten_campaigns: [42] } },
		]);
	});

	it('waits for a push in progress', async () => {
		let forgotten: ReturnType<typeof forgetting> | undefined;
		service()
			.post('/v1/campaigns/42/contacts')
			.reply(200, () => {
				forgotten = forgetting([phone(0)]);
				return accepted(1);
			});
		await push('42', phone(0));
		expect((await forgotten)?.items).toMatchObject([{ json: { forgotten_campaigns: [42] } }]);
		const bodies = respondWith([200, accepted(1)]);
		await push('42', phone(0));
		expect(bodies).toHaveLength(1);
	});
});

it('a node of the workflow that removes duplicates in the same store stops the call', async () => {
	const context = executeContext(callNode(), [{ json: {} }]);
	await context.helpers.checkProcessedAndRecord(['row 1'], 'workflow', { mode: 'entries' });
	const ended = await run(callNode(), rowsOf({ phone: phone(0) }));
	expect(ended.data.resultData.error).toMatchObject({
		message: expect.stringContaining('Another node has changed the numbers that n8n remembers'),
		description: expect.stringContaining("'Scope' of each Remove Duplicates node"),
	});
});
