import fc from 'fast-check';
import {
	type PushOutcome,
	RowsNotPushed,
} from '../../../../nodes/PushCampaignContacts/push/outcome';
import {
	countRows,
	describeOutcome,
	hintsFor,
	summarize,
} from '../../../../nodes/PushCampaignContacts/push/report';
import { namesOfItems } from '../../../../nodes/PushCampaignContacts/push/rows';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import { TransportFault } from '../../../../nodes/shared/api/http';
import type { JsonObject } from '../../../../nodes/shared/json';
import {
	accept,
	contactItems,
	json,
	phone,
	push,
	reject,
	reset,
	scripted,
	stored,
	type Script,
} from './scripted';
import { MANY_RUNS } from '../../../fuzz/runs';

const described = (outcome: PushOutcome) => describeOutcome(outcome, namesOfItems);

test('reports each group of rows on one line', async () => {
	const { options } = scripted((phones, request) => {
		if (phones.includes(phone(0))) return reject('contacts[0] is invalid');
		return request === 3 ? accept(phones, request) : json(503, {});
	});
	const again = [{ json: { phone: phone(1) } }];
	expect(described(await push([...contactItems(20_001), ...again], options))).toEqual([
		'20,002 rows: 9,999 pushed, 1 rejected, 1 duplicate, 10,000 unknown, 1 not sent.',
		'Pushed: 9,999 rows (rows 2 to 10000, contact list 503). Leave them out if you push the other rows again.',
		'Unknown: 10,000 rows (rows 10001 to 20000). They may or may not be in the campaign.',
		'Not sent: 1 row (row 20001). To send only these rows, retry this execution from the list of executions.',
		'Rejected: 1 row (row 1). The service rejected this row: contacts[0] is invalid',
		'Skipped: 1 row (row 20002). Leave them out if you push the other rows again.',
		namesOfItems.legend,
		"Before you push unknown rows again, look at the campaign's contact lists with Campaign Status, with 'Output' set to 'Raw'. Each shows when it was made (created_at) and how many released contacts it has queued (total_queued). Or look at the campaign in the service.",
	]);
});

test('names the lists of all requests, and the first reason of several rejected rows', async () => {
	const { options } = scripted((phones, request) =>
		request === 3 ? reject('Campaign is archived', 409) : accept(phones, request),
	);
	const unreadable = Array.from({ length: 7 }, () => ({ json: { phone: 'x' } }));
	const outcome = await push([...contactItems(5), ...unreadable], {
		...options,
		contactsPerRequest: 2,
	});
	const lines = described(outcome);
	expect(lines[1]).toMatch(/^Pushed: 4 rows \(rows 1 to 4, contact list 501, 502\)\. /);
	expect(lines.at(-2)).toMatch(
		/^Rejected: 7 rows \(rows 6 to 12\)\. The first reason: "x" isn't a phone number\. /,
	);
});

test('advises no retry of the execution if no row was pushed', async () => {
	const { options } = scripted((phones, request) =>
		request === 1
			? json(200, { success: true, data: { campaign_upload_id: 1, dnd_skipped: phones } })
			: reject('Campaign is archived', 409),
	);
	expect(described(await push(3, { ...options, contactsPerRequest: 1 }))).toEqual([
		'3 rows: 0 pushed, 1 on the do-not-disturb list, 2 not sent.',
		'Not sent: 2 rows (rows 2 to 3). Push the rows again after this is resolved.',
		'Skipped: 1 row (row 1). Leave them out if you push the other rows again.',
		namesOfItems.legend,
	]);
});

test('the summary ignores missing and malformed fields of responses', () => {
	const whole = { contacts_accepted: 2, warnings: ['a'], dnd_skipped: ['x'], enqueued: true };
	const other = { contacts_accepted: '3', warnings: 'b', dnd_skipped: null, enqueued: true };
	const summaryOf = (...responses: JsonObject[]) => {
		const pushed = responses.map((response, row) => ({
			rows: RowSet.of([row]),
			response,
			unmatched: [],
		}));
		return summarize({
			received: pushed.length,
			pushed,
			notPushed: new RowsNotPushed(),
			enqueue: false,
		});
	};
	expect(summaryOf(whole, other)).toMatchObject({
		contacts_accepted: 2,
		queued_calls: 0,
		campaign_upload_ids: [],
		warnings: ['a'],
		dnd_skipped: ['x'],
		enqueued: true,
	});
	expect(summaryOf({ enqueued: true }, {})).toMatchObject({ enqueued: false });
	expect(summaryOf()).toMatchObject({ enqueued: false });
});

const every = (count: number) => Array.from({ length: count }, (_, index) => 2 * index);
test.each<[string, number[], RegExp]>([
	['one row', [7], /^row 8$/],
	['a range', [3, 4, 5], /^rows 4 to 6$/],
	['a range and a row', [0, 1, 2, 9], /^rows 1 to 3, 10$/],
	['a hundred ranges', every(100), /, 197, 199$/],
	['more ranges', every(103), /, 197, 199, and more up to 205$/],
	['more ranges, and a longer one', [...every(102), 203], /, 199, and more up to 204$/],
])('describes %s', (_what, rows, words) => {
	expect(namesOfItems.several(RowSet.of(rows))).toMatch(words);
});

test.each([
	[1, '1 more contact without naming the row: "x0"'],
	[5, '5 more contacts without naming the row: "x0", "x1", "x2", "x3", "x4"'],
	[6, '6 more contacts without naming the row: "x0", "x1", "x2", "x3", "x4" and 1 more'],
])('shows the first five of %i skipped entries that match no row', (count, shown) => {
	const unmatched = Array.from({ length: count }, (_, index) => `x${index}`);
	const pushed = [{ rows: RowSet.of([0]), response: {}, unmatched }];
	const notPushed = new RowsNotPushed();
	expect(hintsFor({ received: 1, pushed, notPushed, enqueue: false })).toEqual([
		expect.stringMatching(/^1 row: 1 pushed\./),
		`The service skipped ${shown}. The rows of skipped contacts count as pushed.`,
	]);
});

/** What a service may do with a request. */
const SCRIPTS: Record<string, Script> = {
	accepted: accept,
	'too many': () => ({ status: 429, headers: {}, text: '' }),
	'too many, wait': () => ({ status: 429, headers: { 'retry-after': '3600' }, text: '' }),
	'too large': () => json(413, { success: false, error: 'too large' }),
	'no connection': () => new TransportFault('ECONNREFUSED', '', 'connect'),
	'no trust': () => new TransportFault('CERT_HAS_EXPIRED', ''),
	blocked: () => new TransportFault('BLOCKED_BY_N8N', 'not allowed'),
	reset: () => reset,
	'wrong token': () => json(401, { success: false, error: 'no' }),
	redirect: () => json(307, {}),
	proxy: () => json(407, {}),
	archived: () => reject('Campaign is archived', 409),
	'first rejected': () => reject('contacts[0] is invalid'),
	skipped: (phones) =>
		json(200, { success: true, data: { campaign_upload_id: 1, dnd_skipped: phones } }),
	'does not add up': (phones) =>
		json(200, {
			success: true,
			data: { campaign_upload_id: 1, contacts_accepted: phones.length + 1 },
		}),
};

const NOTHING = /\bnothing (?:was|is|has been) (?:done|sent|pushed)\b/i;
const cell = fc.oneof(
	{ weight: 4, arbitrary: fc.integer({ min: 0, max: 5 }).map(phone) },
	{ weight: 1, arbitrary: fc.constantFrom('', 'x') },
);

test('no message says that nothing was sent if something was, for any outcome', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(cell, { minLength: 1, maxLength: 6 }),
			fc.array(fc.constantFrom(...Object.keys(SCRIPTS)), { minLength: 1, maxLength: 5 }),
			fc.integer({ min: 1, max: 3 }),
			fc.boolean(),
			async (phones, scripts, contactsPerRequest, isTriedAgain) => {
				const { options, sent } = scripted((numbers, request) =>
					(SCRIPTS[scripts[Math.min(request, scripts.length) - 1] ?? ''] ?? accept)(
						numbers,
						request,
					),
				);
				const items = phones.map((written) => ({ json: { phone: written } }));
				const record = {};
				const settings = { ...options, contactsPerRequest };
				let outcome = await push(items, settings, record);
				if (isTriedAgain) outcome = await push(items, settings, stored(record));
				const { stopped, notPushed } = outcome;
				const { pushed, unknown } = countRows(outcome);
				const texts = [
					...described(outcome),
					...hintsFor(outcome),
					...(stopped === undefined ? [] : [stopped.message, stopped.description]),
					...Array.from(notPushed, ({ reason }) => reason),
				];
				const saysNothing = texts.filter((text) => NOTHING.test(text));
				if (sent.length > 0) expect(saysNothing).toEqual([]);
				// The kept row may be rejected, or not reached.
				for (const { status, reason } of notPushed) {
					if (status === 'duplicate') expect(reason).not.toMatch(/\b(?:is|was) (?:sent|pushed)\b/);
				}
				for (const text of texts) {
					for (const [, count] of text.matchAll(/\b([\d,]+) pushed\b/g)) {
						expect(count).toBe(String(pushed));
					}
				}
				const isToCompare = texts.some((text) => /may or may not be in the campaign/.test(text));
				expect(isToCompare).toBe(unknown > 0);
			},
		),
		{ numRuns: MANY_RUNS },
	);
});
