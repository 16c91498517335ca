import fc from 'fast-check';
import type { WireAnswer } from '../../../../nodes/shared/api/http';
import { FeedProgress } from '../../../../nodes/PushCampaignContacts/feed/progress';
import { accept, json, phone, push, refuse, scripted, statuses, stored } from './scripted';

type Manner = { firstIndex: 0 | 1; bad: ReadonlySet<number>; namesAll?: boolean };

/** A service that does not take the bad numbers, and counts its contacts from 0 or from 1. */
function strict({ firstIndex, bad, namesAll = false }: Manner) {
	const taken: string[] = [];
	const isBad = (number: string) => bad.has(Number(number) - 9_000_000_000);
	const script = (phones: string[], request: number): WireAnswer => {
		const named = phones.flatMap((number, place) =>
			isBad(number) ? [`contacts[${place + firstIndex}].phone is not in service`] : [],
		);
		if (named.length > 0) {
			return json(400, { success: false, errors: namesAll ? named : named.slice(0, 1) });
		}
		taken.push(...phones);
		return accept(phones, request);
	};
	return { taken, ...scripted(script) };
}

const rest = (count: number, bad: ReadonlySet<number>) =>
	Array.from({ length: count }, (_, index) => index)
		.filter((index) => !bad.has(index))
		.map(phone);

describe.each([0, 1] as const)('a service that counts from %i', (firstIndex) => {
	test.each([
		['in the middle', 10],
		['first', 0],
		['second', 1],
		['last', 24],
		['last but one', 23],
	])('of 25 rows the bad one is rejected and 24 are in: %s', async (_place, row) => {
		const bad = new Set([row]);
		const { taken, sent, options } = strict({ firstIndex, bad });
		const outcome = await push(25, options);
		expect(statuses(outcome)).toEqual([`${row} rejected`]);
		expect([...taken].sort()).toEqual(rest(25, bad));
		expect(outcome.stopped).toBeUndefined();
		expect(sent.length).toBeLessThanOrEqual(3);
	});

	test('what it counts from is found once for the whole feed', async () => {
		const bad = new Set([3, 5_000, 10_005, 20_000]);
		const { sent, options } = strict({ firstIndex, bad });
		const outcome = await push(20_010, options);
		expect(statuses(outcome)).toEqual([...bad].map((row) => `${row} rejected`));
		expect(sent.filter((phones) => phones.length === 1)).toHaveLength(1);
		expect(sent).toHaveLength(3 + bad.size + 1);
	});

	test('and is known to a further try of the feed', async () => {
		const progress = new FeedProgress();
		await push(25, strict({ firstIndex, bad: new Set([7]) }).options, progress);
		expect(stored(progress).record.firstIndex).toBe(firstIndex);
	});

	test('any bad rows are rejected, each good one is in once', async () => {
		const rows = fc.uniqueArray(fc.nat(39), { maxLength: 8 });
		await fc.assert(
			fc.asyncProperty(
				rows,
				fc.boolean(),
				fc.integer({ min: 1, max: 40 }),
				async (list, all, size) => {
					const bad = new Set(list);
					const { taken, sent, options } = strict({ firstIndex, bad, namesAll: all });
					const outcome = await push(40, { ...options, contactsPerRequest: size });
					expect(statuses(outcome)).toEqual(
						[...bad].sort((a, b) => a - b).map((row) => `${row} rejected`),
					);
					expect([...taken].sort()).toEqual(rest(40, bad));
					expect(outcome.stopped).toBeUndefined();
					expect(sent.length).toBeLessThanOrEqual(Math.ceil(40 / size) + bad.size + 1);
				},
			),
		);
	});
});

describe('of both rows that may be meant, the doubtful one is sent alone', () => {
	const landline = { json: { phone: '+911123456789' } };
	const isLandline = (number: string) => number === landline.json.phone;
	const service = (firstIndex: 0 | 1) =>
		scripted((phones, request) => {
			const place = phones.findIndex(isLandline);
			return place < 0 ? accept(phones, request) : refuse(`contacts[${place + firstIndex}] is bad`);
		});

	test.each([0, 1] as const)(
		'and leaves nothing in the campaign: counted from %i',
		async (first) => {
			const { sent, options } = service(first);
			const rows = [0, 1, 2, 3, 4].map((index) => ({ json: { phone: phone(index) } }));
			const outcome = await push([...rows.slice(0, 2), landline, ...rows.slice(2)], options);
			expect(statuses(outcome)).toEqual(['2 rejected']);
			expect(outcome.pushed.map((request) => request.rows)).toEqual([[0, 1, 3, 4, 5]]);
			expect(sent[1]).toEqual([landline.json.phone]);
			expect(sent).toHaveLength(3);
		},
	);
});

describe('the row that is sent alone to find out', () => {
	const service = (alone: WireAnswer) =>
		scripted((phones, request) => {
			if (phones.length === 1) return alone;
			return phones.length === 3 ? refuse('contacts[1] is invalid') : accept(phones, request);
		});

	test('stops the feed where it is refused for another reason', async () => {
		const { sent, options } = service(refuse('Campaign is archived', 409));
		const outcome = await push(3, options);
		expect(statuses(outcome)).toEqual(['0 not_sent', '1 not_sent', '2 not_sent']);
		expect(sent).toHaveLength(2);
	});

	test('is unknown where no answer tells, and the others are not sent', async () => {
		const { options } = service(json(503, {}));
		const outcome = await push(3, options);
		expect(statuses(outcome)).toEqual(['0 unknown', '1 not_sent', '2 not_sent']);
		expect(outcome.stopped?.outcome).toBe('unknown');
	});

	test('is rejected where the refusal names nothing, and the others go on', async () => {
		const { sent, options } = service(refuse('phone is invalid'));
		const outcome = await push(3, options);
		expect(statuses(outcome)).toEqual(['0 rejected']);
		expect(sent).toEqual([[phone(0), phone(1), phone(2)], [phone(0)], [phone(1), phone(2)]]);
	});
});

test('an index that contradicts what was found rejects no row', async () => {
	const { sent, options } = scripted((_phones, request) =>
		refuse(request === 1 ? 'contacts[3] is invalid' : 'contacts[0] is invalid'),
	);
	const outcome = await push(3, options);
	expect(statuses(outcome)).toEqual(['0 not_sent', '1 not_sent', '2 rejected']);
	expect(sent).toHaveLength(2);
});
