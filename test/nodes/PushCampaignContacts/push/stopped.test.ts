import { countRows } from '../../../../nodes/PushCampaignContacts/push/summary';
import { SentNumbers } from '../../../../nodes/PushCampaignContacts/push/sentNumbers';
import { TransportFault, type HttpResponse } from '../../../../nodes/shared/api/http';
import {
	accept,
	json,
	phone,
	push,
	reject,
	reset,
	scripted,
	statuses,
	stored,
	type Script,
} from './scripted';

describe('a push that stops', () => {
	const atSecond =
		(answer: HttpResponse | TransportFault): Script =>
		(phones, request) =>
			request === 2 ? answer : accept(phones, request);

	test.each<[string, HttpResponse | TransportFault, 'unknown' | 'not_sent', number]>([
		['broken connection', reset, 'unknown', 2],
		['service fault', json(503, {}), 'unknown', 2],
		['unreadable answer', { status: 200, headers: {}, text: '{"success":tr' }, 'unknown', 2],
		['web page', { status: 200, headers: {}, text: '<html>' }, 'unknown', 2],
		['rejection at 200', reject('agent_not_found', 200), 'not_sent', 2],
		['archived campaign', reject('Campaign is archived', 409), 'not_sent', 2],
	])('%s: nothing is sent twice, and each row has a status', async (_n, answer, status, calls) => {
		const { sent, options } = scripted(atSecond(answer));
		const outcome = await push(20_001, options);
		expect(sent).toHaveLength(calls);
		expect(new Set(sent.flat()).size).toBe(sent.flat().length);
		expect(outcome.stopped?.outcome).toBe(status === 'unknown' ? 'unknown' : 'rejected');
		expect(countRows(outcome)).toEqual({
			received: 20_001,
			requests: 1,
			pushed: 10_000,
			rejected: 0,
			duplicate: 0,
			do_not_disturb: 0,
			skipped_duplicate: 0,
			pushed_before: 0,
			skipped_unmatched: 0,
			unknown: status === 'unknown' ? 10_000 : 0,
			not_sent: status === 'unknown' ? 1 : 10_001,
		});
	});

	test('retries a failed connection, and then reports not_sent', async () => {
		const { sent, options } = scripted(
			atSecondAndOn(new TransportFault('ECONNREFUSED', '', 'connect')),
		);
		const outcome = await push(10_001, options);
		expect(sent.map((phones) => phones.length)).toEqual([10_000, 1, 1, 1, 1]);
		expect(statuses(outcome)).toEqual(['10000 not_sent']);
	});

	test('retries after 429', async () => {
		const { sent, options } = scripted(atSecond({ status: 429, headers: {}, text: '' }));
		const outcome = await push(10_001, options);
		expect(sent.map((phones) => phones.length)).toEqual([10_000, 1, 1]);
		expect(outcome.rejectedRows.size).toBe(0);
	});

	test('sends no further request after the execution was stopped', async () => {
		const { sent, options } = scripted(accept);
		const outcome = await push(10_001, { ...options, stopRequested: () => sent.length === 1 });
		expect(statuses(outcome)).toEqual(['10000 not_sent']);
		expect(outcome.stopped?.message).toMatch(/^The execution was stopped/);
	});

	test('reports the rows as unknown after an unexpected error', async () => {
		const { options } = scripted(() => {
			throw new TypeError('a defect');
		});
		const outcome = await push(1, options);
		expect(statuses(outcome)).toEqual(['0 unknown']);
		expect(outcome.stopped?.originalMessage).toBe('a defect');
	});

	test('continues in the next attempt', async () => {
		const first = scripted(atSecond(json(503, {})));
		const second = scripted(accept);
		const record = {};
		await push(20_001, first.options, record);
		const outcome = await push(20_001, second.options, stored(record));
		expect(second.sent).toEqual([[phone(20_000)]]);
		expect(outcome.stopped?.outcome).toBe('unknown');
		expect(countRows(outcome)).toMatchObject({ pushed: 10_001, unknown: 10_000, not_sent: 0 });
	});

	test('keeps a row unknown, although later requests of its chunk succeed', async () => {
		const alone = [phone(0)];
		const first = scripted((phones, request) => {
			if (request === 1) return reject('contacts[0] is invalid');
			return phones.join() === alone.join() ? reset : accept(phones, request);
		});
		const record = {};
		await push(3, first.options, record);
		for (let attempt = 2; attempt <= 3; attempt++) {
			const { sent, options } = scripted(accept);
			const outcome = await push(3, options, record);
			expect(sent).toEqual(attempt === 2 ? [[phone(1), phone(2)]] : []);
			expect(countRows(outcome)).toMatchObject({ pushed: 2, unknown: 1 });
		}
	});

	test('reports no row as not_sent that another run of the node pushed', async () => {
		const numbers = {};
		const sentNumbers = () => new SentNumbers(numbers, 42);
		await push(1, { ...scripted(accept).options, sentNumbers: sentNumbers() });
		const { options } = scripted(() => reject('Campaign is archived', 409));
		const items = [1, 0].map((row) => ({ json: { phone: phone(row) } }));
		const last = { ...options, contactsPerRequest: 1, sentNumbers: sentNumbers() };
		expect(statuses(await push(items, last))).toEqual(['0 not_sent', '1 duplicate']);
	});

	test('succeeds in the next attempt if all outcomes were known', async () => {
		const first = scripted(atSecond(reject('Campaign is archived', 409)));
		const second = scripted(accept);
		const record = {};
		await push(10_002, first.options, record);
		const outcome = await push(10_002, second.options, stored(record));
		expect(second.sent).toEqual([[phone(10_000), phone(10_001)]]);
		expect(outcome.stopped).toBeUndefined();
		expect(countRows(outcome)).toMatchObject({ pushed: 10_002, requests: 2, not_sent: 0 });
	});
});

function atSecondAndOn(answer: TransportFault): Script {
	return (phones, request) => (request >= 2 ? answer : accept(phones, request));
}
