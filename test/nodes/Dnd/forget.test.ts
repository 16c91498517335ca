import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import {
	engineHarness,
	engineTool,
	inlineTool,
	mcpTool,
	output,
	runNode,
	service,
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
const limited = { options: { callLimit: { limit: { maximumCalls: 1, period: 'day' } } } };
const by = (id: string) => ({ __rl: true, mode: 'id', value: id });
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
	it('forgets the calls to a number and its push to a campaign, in any format, and says which', async () => {
		acceptCalls(3);
		await called(phone(0), phone(1));
		respondWith([200, accepted(2)]);
		service().post('/v1/campaigns/43/contacts').reply(200, accepted(1));
		await push('42', phone(0), phone(1));
		await push('43', phone(0));
		const before = store.size;
		const { items } = await forgetting([`+91 ${phone(0)}`, phone(7)], { campaignId: by('42') });
		expect(items).toMatchObject([
			{
				json: { forgotten_push: true, forgotten_calls: true },
				pairedItem: { item: 0 },
			},
			{ json: { forgotten_push: false, forgotten_calls: false } },
		]);
		expect(JSON.stringify(items)).not.toContain(phone(0));
		expect(store.size).toBe(before - 2);

		expect(await called(phone(0), phone(1))).toEqual([true, false]);
		const bodies = respondWith([200, accepted(1)]);
		expect(await push('42', phone(0), phone(1))).toEqual(['pushed_before']);
		expect(bodies.map(phonesOf)).toEqual([[phone(0)]]);
		expect(await push('43', phone(0))).toEqual(['pushed_before']);
	});

	it('forgets only the calls without a campaign, also scheduled ones', async () => {
		acceptCalls(1);
		const inTwoWeeks = new Date(clock.now() + 14 * 24 * 3_600_000).toISOString();
		const later = { ...CALL, ...limited, when: 'dateTime', scheduledAt: inTwoWeeks };
		const node = harness.node('placeCall', { id: 'call', parameters: later });
		await run(node, rowsOf({}));
		const { items } = await forgetting([phone(0)]);
		expect(items).toMatchObject([{ json: { forgotten_push: false, forgotten_calls: false } }]);
		const ofCall = await forgetting([CALL.phoneNumber]);
		expect(ofCall.items).toMatchObject([{ json: { forgotten_calls: true } }]);
		expect(store.size).toBe(0);
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
		const { error } = await forgetting([phone(0), '2025550123'], { campaignId: by('42') });
		expect(error?.message).toContain('\'Phone\' "2025550123" has no clear international format');
		expect(store.size).toBe(size);
	});

	it('forgets nothing if the campaign is not a number', async () => {
		acceptCalls(1);
		await called(phone(0));
		const { error } = await forgetting([phone(0)], { campaignId: by('spring') });
		expect(error?.message).toContain(`'Campaign' must be a whole number (got "spring")`);
		expect(store.size).toBe(1);
	});

	it('says so if the numbers cannot be read or written', async () => {
		store.beforeCall = (made) => {
			if (made.startsWith('remove')) throw new Error('killed');
		};
		const { error } = await forgetting([phone(0)]);
		expect(error?.message).toContain("n8n can't read or write the numbers that it remembers");
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
});
