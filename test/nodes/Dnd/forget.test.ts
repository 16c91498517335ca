import type { INode, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/host/clock';
import { engineHarness, engineTool, output, runNode, service } from '../../engine';
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
const limited = { callLimit: 'day', maximumCalls: 1 };

const run = async (node: INode, phones: string[], sinks: string[] = []) =>
	await runNode(node, rowsOf(...phones.map((one) => ({ phone: one }))), sinks);
const forgetting = async (phones: string[], parameters: INodeParameters = {}) => {
	const ended = await run(forgetNode(parameters), phones);
	const { error } = ended.data.resultData;
	return { items: output(ended, 'Node'), error };
};
/** Calls people by a node with the limit. Returns whether they were called. */
const called = async (phones: string[], parameters: INodeParameters = {}) => {
	const ofCall = { ...CALL, phoneNumber: '={{ $json.phone }}', ...limited, ...parameters };
	const node = harness.node('placeCall', { id: 'call', parameters: ofCall });
	return output(await run(node, phones), 'Node').map(({ json }) => json.placed);
};
/** Pushes people. Returns the statuses of those that were pushed before. */
const push = async (campaignId: string, ...phones: string[]) => {
	const parameters = { campaignId, numbersPushedBefore: 'skipNumbers' };
	const node = pushNode(parameters, { id: 'push' });
	const ended = await run(node, phones, ['Pushed', 'Rejected', 'Skipped']);
	return output(ended, 'Node', 2).map(({ json }) => json.push_status);
};

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

it('forgets the calls to a number and its push to a campaign, in any format', async () => {
	acceptCalls(3);
	await called([phone(0), phone(1)]);
	respondWith([200, accepted(2)]);
	service().post('/v1/campaigns/43/contacts').reply(200, accepted(1));
	await push('42', phone(0), phone(1));
	await push('43', phone(0));
	const before = store.size;
	const { items } = await forgetting([`+91 ${phone(0)}`, phone(7)], { campaignId: '42' });
	expect(items).toMatchObject([
		{ json: { forgotten: true }, pairedItem: { item: 0 } },
		{ json: { forgotten: false } },
	]);
	expect(JSON.stringify(items)).not.toContain(phone(0));
	expect(store.size).toBe(before - 2);

	expect(await called([phone(0), phone(1)])).toEqual([true, false]);
	const bodies = respondWith([200, accepted(1)]);
	expect(await push('42', phone(0), phone(1))).toEqual(['sent_before']);
	expect(bodies.map(phonesOf)).toEqual([[phone(0)]]);
	expect(await push('43', phone(0))).toEqual(['sent_before']);
});

it('forgets no other number, however many the workflow remembers', async () => {
	const count = 441;
	const remembered = Array.from({ length: count }, (_, index) => phone(index));
	respondWith([200, accepted(count)]);
	await push('42', ...remembered);
	const before = store.size;
	// As many texts as the list has: the push to the campaign, and each call of each period.
	const { items } = await forgetting([phone(count)], { campaignId: '42' });
	expect(items).toMatchObject([{ json: { forgotten: false } }]);
	expect(store.size).toBe(before);
});

it('forgets only the calls without a campaign, also those scheduled up to a month ahead and those of another country', async () => {
	acceptCalls(4);
	const scheduledAt = new Date(clock.now() + 31 * 24 * 3_600_000).toISOString();
	for (const callLimit of ['day', 'week', 'month'])
		await called([phone(0)], { when: 'dateTime', scheduledAt, callLimit });
	await called(['202 555 0123'], { countryCode: 'US' });
	const forgotten = async (...given: Parameters<typeof forgetting>) =>
		(await forgetting(...given)).items.map(({ json }) => json);
	expect(await forgotten([phone(1), phone(0)])).toMatchObject([
		{ forgotten: false },
		{ forgotten: true },
	]);
	expect(await forgotten(['(202) 555-0123'], { countryCode: 'US' })).toMatchObject([
		{ forgotten: true },
	]);
	expect(store.size).toBe(0);
});

it('forgets all numbers', async () => {
	acceptCalls(2);
	await called([phone(0)]);
	const { items } = await forgetting(['any'], { numbersToForget: 'all' });
	expect(items).toEqual([{ json: { forgotten: true }, pairedItem: [] }]);
	expect(store.size).toBe(0);
	expect(await called([phone(0)])).toEqual([true]);
});

describe('forgets nothing', () => {
	beforeEach(async () => {
		acceptCalls(1);
		await called([phone(0)]);
	});
	afterEach(() => expect(store.size).toBe(1));

	it.each([
		['42', '20255', '\'Phone\' "20255" has 5 digits instead of 10'],
		['spring', phone(0), `'Campaign ID' must be a whole number (got "spring")`],
	])('if campaign %s or number %s is not clear', async (campaignId, other, message) => {
		const { error } = await forgetting([phone(0), other], { campaignId });
		expect(error?.message).toContain(message);
	});

	it('if the numbers cannot be read or written, and says so', async () => {
		store.beforeCall = (made) => {
			if (made.startsWith('remove')) throw new Error('killed');
		};
		const { error } = await forgetting([phone(0)]);
		expect(error?.message).toContain("n8n can't read or write the numbers that it remembers");
		expect(error?.description).toContain('Save the workflow and try again');
	});

	it('as a tool', async () => {
		const tool = engineTool(forgetNode({ numbersToForget: 'all' }));
		expect(await tool()).toMatchObject({
			outcome: 'not_sent',
			what_happened: "A tool can't forget numbers, so nothing was forgotten.",
		});
	});
});
