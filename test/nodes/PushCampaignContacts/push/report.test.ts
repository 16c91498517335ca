import {
	describeOutcome,
	hintsFor,
	summarize,
} from '../../../../nodes/PushCampaignContacts/push/report';
import { namesOfItems } from '../../../../nodes/PushCampaignContacts/push/rows';
import type { JsonObject } from '../../../../nodes/shared/json';
import { RowsNotPushed } from '../../../../nodes/PushCampaignContacts/push/outcome';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import { accept, contactItems, json, phone, push, reject, scripted } from './scripted';

test('reports each group of rows on one line, and everything else in the details', async () => {
	const { options } = scripted((phones, request) => {
		if (phones.includes(phone(0))) return reject('contacts[0] is invalid');
		return request === 3 ? accept(phones, request) : json(503, {});
	});
	const again = [{ json: { phone: phone(1) } }];
	expect(describeOutcome(await push([...contactItems(20_001), ...again], options))).toEqual({
		nextSteps: [
			"To send only the rows that weren't sent, retry this execution from the list of executions.",
		],
		groups: [
			'Pushed: 9,999 rows (rows 2 to 10000, contact list 503). Leave them out if you push the other rows again.',
			"Unknown: 10,000 rows (rows 10001 to 20000). They may or may not be in the campaign. Before you push unknown rows again, look at the campaign's contact lists with Campaign Status. Each shows when it was made (created_at) and how many contacts it has queued (total_queued). Or look at the campaign in the service.",
			'Not sent: 1 row (row 20001). Push it after this is resolved.',
			'Rejected: 1 row (row 1). The service rejected this row: contacts[0] is invalid',
		],
		details: [
			'20,002 rows: 9,999 pushed, 1 rejected, 1 duplicate, 10,000 unknown, 1 not sent.',
			'Duplicates: 1 row (row 20002). Leave them out if you push the other rows again. Each has the phone number of another row.',
		],
	});
});

test('names the lists of all requests, and the first five of many rejected rows', async () => {
	const { options } = scripted((phones, request) =>
		request === 3 ? reject('Campaign is archived', 409) : accept(phones, request),
	);
	const unreadable = Array.from({ length: 7 }, () => ({ json: { phone: 'x' } }));
	const outcome = await push([...contactItems(5), ...unreadable], {
		...options,
		contactsPerRequest: 2,
	});
	const { groups, details } = describeOutcome(outcome);
	expect(groups[0]).toMatch(/^Pushed: 4 rows \(rows 1 to 4, contact lists 501, 502\)\. /);
	expect(groups.at(-1)).toBe(
		'Rejected: 7 rows (rows 6 to 12). The first reasons are in the details.',
	);
	expect(details.filter((line) => line.startsWith('[row '))).toHaveLength(5);
	expect(details[1]).toMatch(/^\[row 6\] "x" isn't a phone number\. /);
	expect(details.at(-1)).toBe('2 more rows were rejected.');
});

const summaryOf = (...responses: JsonObject[]) =>
	summarize({
		received: responses.length,
		pushed: responses.map((response, row) => ({ rows: RowSet.of([row]), response, unmatched: [] })),
		notPushed: new RowsNotPushed(),
	});

test.each<[string, JsonObject[], boolean]>([
	['every response says so', [{ enqueued: true }, { enqueued: true }], true],
	['one response denies it', [{ enqueued: true }, { enqueued: false }], false],
	["one response doesn't say", [{ enqueued: true }, {}], false],
	['there was no request', [], false],
])('enqueued of the summary, if %s', (_case, responses, enqueued) => {
	expect(summaryOf(...responses)).toMatchObject({ enqueued });
});

test('ignores missing and malformed fields of responses', () => {
	const whole = {
		campaign_upload_id: 7,
		contacts_accepted: 2,
		warnings: ['a'],
		dnd_skipped: ['x'],
	};
	const other = { contacts_accepted: '3', warnings: 'b', dnd_skipped: null };
	const summary = summaryOf(whole, other, {});
	expect(summary).toMatchObject({ contacts_accepted: 2, queued_calls: 0 });
	expect(summary.campaign_upload_ids).toStrictEqual([7]);
	expect(summary.warnings).toEqual(['a']);
	expect(summary.dnd_skipped).toEqual(['x']);
});

test.each<[number[], string]>([
	[[7], 'row 8'],
	[[3, 4, 5], 'rows 4 to 6'],
	[[0, 1, 2, 9], 'rows 1 to 3, 10'],
])('describes rows %j as %s', (rows, words) => {
	expect(namesOfItems.several(RowSet.of(rows))).toBe(words);
});

test('lists the first hundred ranges and the end of the others', () => {
	const every = (count: number) => Array.from({ length: count }, (_, index) => 2 * index);
	expect(namesOfItems.several(RowSet.of(every(100)))).toMatch(/, 197, 199$/);
	expect(namesOfItems.several(RowSet.of(every(103)))).toMatch(/, 197, 199, and more up to 205$/);
	expect(namesOfItems.several(RowSet.of([...every(102), 203]))).toMatch(
		/, 199, and more up to 204$/,
	);
});

test.each([
	[1, '1 more contact that doesn\'t match any row: "x0"'],
	[5, '5 more contacts that don\'t match any row: "x0", "x1", "x2", "x3", "x4"'],
	[6, '6 more contacts that don\'t match any row: "x0", "x1", "x2", "x3", "x4" and 1 more'],
])('shows the first five of %i skipped entries that match no row', (count, shown) => {
	const unmatched = Array.from({ length: count }, (_, index) => `x${index}`);
	const pushed = [{ rows: RowSet.of([0]), response: {}, unmatched }];
	expect(hintsFor({ received: 1, pushed, notPushed: new RowsNotPushed() })).toEqual([
		'1 row: 1 pushed.',
		`The service skipped ${shown}. The rows of skipped contacts count as pushed.`,
	]);
});
