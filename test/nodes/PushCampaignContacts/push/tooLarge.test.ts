import fc from 'fast-check';
import { MAX_REJECTED_ROWS } from '../../../../nodes/PushCampaignContacts/push/chunkSender';
import { accept, phone, push, reject, scripted, statuses } from './scripted';

/** A service or a proxy with a maximum number of contacts per request. */
const limited = (max: (phones: string[]) => number) =>
	scripted((phones, request) =>
		phones.length > max(phones)
			? { status: 413, headers: {}, text: '<html>Request Entity Too Large</html>' }
			: accept(phones, request),
	);
const accepted = (sent: string[][], max: number) => sent.filter((phones) => phones.length <= max);

test('halves a request that is too large, and keeps the smaller size', async () => {
	const { sent, options } = limited(() => 3_000);
	const outcome = await push(20_000, options);
	expect(sent.slice(0, 4).map((phones) => phones.length)).toEqual([10_000, 5_000, 2_500, 2_500]);
	expect(accepted(sent, 3_000).flat()).toEqual(Array.from({ length: 20_000 }, (_, i) => phone(i)));
	expect(sent).toHaveLength(8 + 3);
	expect(outcome.rejectedRows.size).toBe(0);
	expect(outcome.stopped).toBeUndefined();
});

test('rejects a row that is too large alone, and sends the others', async () => {
	const { sent, options } = limited((phones) => (phones.includes(phone(3)) ? 0 : Infinity));
	const outcome = await push(10_010, options);
	expect(statuses(outcome)).toEqual(['3 rejected']);
	expect([...outcome.rejectedRows][0]?.reason).toBe(
		'The row is too large for the service, even in a request of its own. Shorten its texts, or send fewer columns. The service said: HTTP status 413 · <html>Request Entity Too Large</html>',
	);
	const there = sent.filter((phones) => !phones.includes(phone(3))).flat();
	expect(new Set(there).size).toBe(10_009);
	expect(there).toHaveLength(10_009);
});

test('stops after a limited number of rows that are too large alone', async () => {
	const { sent, options } = limited(() => 0);
	const outcome = await push(1_000, options);
	expect(outcome.stopped?.message).toMatch(/rejected more than 100 rows/);
	expect(sent.length).toBeLessThan(3 * MAX_REJECTED_ROWS);
});

test('a rejection in one half leaves the other half not sent', async () => {
	const { options } = scripted((phones, request) => {
		if (request === 1) return { status: 413, headers: {}, text: '' };
		return request === 2 ? reject('Campaign is archived', 409) : accept(phones, request);
	});
	const outcome = await push(4, options);
	expect(statuses(outcome)).toEqual(['0 not_sent', '1 not_sent', '2 not_sent', '3 not_sent']);
	expect(outcome.stopped?.message).toMatch(/archived/);
});

test('sends each row once and in order, for any size limit', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 1, max: 60 }),
			fc.integer({ min: 1, max: 60 }),
			fc.integer({ min: 1, max: 60 }),
			async (count, max, size) => {
				const { sent, options } = limited(() => max);
				const outcome = await push(count, { ...options, contactsPerRequest: size });
				expect(accepted(sent, max).flat()).toEqual(
					Array.from({ length: count }, (_, i) => phone(i)),
				);
				expect(outcome.rejectedRows.size).toBe(0);
			},
		),
	);
});
