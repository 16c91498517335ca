import { engineHarness, searchList } from '../../../../engine';

const harness = engineHarness();
const ONE = [
	{ name: 'Answered', value: 'picked' },
	{ name: 'Not Answered', value: 'not_picked' },
	{ name: 'Failed', value: 'failed' },
];
const MISSED = { name: 'Not Answered or Failed', value: 'not_picked, failed' };
const SEVERAL = [...ONE, MISSED];

const listed = async (node: string, method: string, filter?: string) =>
	(await searchList(harness.node(node), method, filter)).results;

describe.each([
	['getCall', 'searchStatus', ONE],
	['callCompletedTrigger', 'searchStatuses', SEVERAL],
	['campaignCallsTrigger', 'searchStatuses', SEVERAL],
] as const)('the list of statuses of %s', (node, method, all) => {
	it('shows the usual ones in words', async () => {
		expect(await listed(node, method)).toEqual(all);
		expect(await listed(node, method, ' ')).toEqual(all);
	});

	it('offers what was typed, because a service may have any status', async () => {
		expect(await listed(node, method, ' Voicemail ')).toEqual([
			{ name: 'Voicemail', value: 'Voicemail' },
		]);
		expect(await listed(node, method, 'fail')).toEqual([
			...all.filter(({ value }) => value.includes('failed')),
			{ name: 'fail', value: 'fail' },
		]);
	});

	it.each(['ANSWERED', 'picked'])('finds %s, and does not offer it twice', async (typed) => {
		const found = await listed(node, method, typed);
		expect(found).toContainEqual(ONE[0]);
		expect(found.map(({ value }) => value)).not.toContain(typed.toUpperCase());
		expect(found.filter(({ value }) => value === 'picked')).toHaveLength(1);
	});
});
