import countBy from 'lodash/countBy';
import type { INodeExecutionData } from 'n8n-workflow';
import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness, output } from '../../engine';
import {
	accepted,
	respondWith,
	respondInto,
	breaking,
	runPush,
	jsonOf,
	manyRows,
	phone,
	phonesOf,
	rejection,
	sizes,
	WAITING,
} from './pushHarness';

const harness = engineHarness();
const OK: [number, JsonObject] = [200, accepted(10_000)];
const goOn = { onError: 'continueRegularOutput' as const };
const tryAgain = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };

const nothingTwice = (bodies: JsonObject[]) => {
	const phones = bodies.flatMap(phonesOf);
	expect(new Set(phones).size).toBe(phones.length);
};
const statusesOf = (rejected: INodeExecutionData[]) =>
	countBy(rejected, ({ json }) => json.rejection_status);

describe('when the outcome of the second request is unknown', () => {
	const faults: Array<[name: string, arm: () => JsonObject[]]> = [
		['the connection breaks', () => breaking('ECONNRESET', respondWith(OK))],
		['the request times out', () => breaking('ETIMEDOUT', respondWith(OK))],
		['the service returns 500', () => respondWith(OK, [500, rejection('Internal server error')])],
		['a gateway returns 502', () => respondWith(OK, [502, '<html>Bad gateway</html>'])],
		['the response is cut off', () => respondWith(OK, [200, '{"success":true,"data":{"campa'])],
		['a web page is returned', () => respondWith(OK, [200, '<!doctype html><title>Hi</title>'])],
	];

	test.each(faults)(
		'%s: it is not sent again, and the error reports every row',
		async (_n, arm) => {
			const bodies = arm();
			const { error } = await runPush(harness, [{ json: { phone: '12' } }, ...manyRows(20_001)]);
			expect(sizes(bodies)).toEqual([10_000, 10_000]);
			nothingTwice(bodies);
			expect(error).toMatchObject({
				message: expect.stringMatching(/the outcome is unknown$/),
				context: { itemIndex: 10_001 },
			});
			expect(error).toHaveProperty(
				'description',
				expect.stringMatching(
					/^The request wasn't sent again.*\nTo send only the rows that weren't sent, retry.*\nPushed: 10,000 rows \(rows 2 to 10001, contact list 501\)\. Leave them out.*\nUnknown: 10,000 rows \(rows 10002 to 20001\)\. They may or may not be in the campaign.*\nNot sent: 1 row \(row 20002\)\..*\nRejected: 1 row \(row 1\)\. "12" has 2 digits.*$/,
				),
			);
		},
	);

	test('the screen shows the description with line breaks, and the details on demand', async () => {
		breaking('ECONNRESET', respondWith(OK));
		const { error } = await runPush(harness, manyRows(20_001));
		const lines = String(error?.description).split('\n');
		expect(lines).toHaveLength(5);
		expect(error).toHaveProperty('context.descriptionTemplate', lines.join('<br>'));
		expect(error).toHaveProperty('messages', [
			'20,001 rows: 10,000 pushed, 10,000 unknown, 1 not sent.',
		]);
	});

	test('text from a row is never HTML in the error and the hints', async () => {
		const rows = [{ json: { phone: '<img src=x>' } }, ...manyRows(1)];
		breaking('ECONNRESET', []);
		const stopped = await runPush(harness, rows);
		expect(stopped.error).toHaveProperty(
			'description',
			expect.stringMatching(/Rejected: 1 row \(row 1\)\. "‹img src=x>"/),
		);
		expect(stopped.error).toHaveProperty(
			'context.descriptionTemplate',
			expect.not.stringMatching(/<(?!br>)/),
		);
		respondWith([200, { ...accepted(1), message: '<b>' }]);
		const { hints } = await runPush(harness, rows);
		expect(hints.join()).not.toMatch(/<[a-z]/);
	});

	test.each(faults)('%s: with Continue, each row is returned once', async (_name, arm) => {
		const bodies = arm();
		const { pushed, rejected, error, hints } = await runPush(harness, manyRows(20_001), {}, goOn);
		expect(error).toBeUndefined();
		nothingTwice(bodies);
		expect(pushed).toHaveLength(1);
		expect(pushed[0]?.json.totals).toMatchObject({ pushed: 10_000, unknown: 10_000, not_sent: 1 });
		expect(statusesOf(rejected)).toEqual({ unknown: 10_000, not_sent: 1 });
		expect(hints).toEqual([
			`20,001 rows: 10,000 pushed, 10,000 unknown, 1 not sent. ${WAITING} The 'Rejected' output shows the reason for each row.`,
			expect.stringMatching(/outcome is unknown.*wasn't sent again/),
			expect.stringMatching(/look at the campaign's contact lists with Campaign Status/),
		]);
		expect(rejected[0]?.json).toMatchObject({
			phone: phone(10_000),
			rejection_reason: expect.stringMatching(/The request wasn't sent again/),
		});
		expect(rejected.at(-1)?.json).toMatchObject({
			phone: phone(20_000),
			rejection_reason: expect.stringMatching(/You can push this row again\.$/),
		});
	});

	test.each(faults)('%s: Retry On Fail sends only what was not sent', async (_name, arm) => {
		const bodies = arm();
		respondInto(bodies, [200, accepted(1)]);
		const { error } = await runPush(harness, manyRows(20_001), {}, tryAgain);
		expect(sizes(bodies)).toEqual([10_000, 10_000, 1]);
		nothingTwice(bodies);
		expect(error).toHaveProperty(
			'description',
			expect.stringMatching(
				/\nPushed: 10,001 rows.*\nUnknown: 10,000 rows \(rows 10001 to 20000\)/,
			),
		);
	});

	test('a later attempt that cannot begin reports all rows as unknown', async () => {
		const read = harness.credentials.getDecrypted.bind(harness.credentials);
		const reading = jest.spyOn(harness.credentials, 'getDecrypted');
		reading.mockImplementationOnce(read).mockRejectedValueOnce(new Error('The database is busy'));
		const bodies = respondWith(OK, [503, '']);
		const { error } = await runPush(harness, manyRows(10_001), {}, tryAgain);
		reading.mockRestore();
		expect(bodies).toHaveLength(2);
		expect(error).toMatchObject({
			message: 'The database is busy',
			description: expect.stringMatching(/^Unknown: 10,001 rows \(rows 1 to 10001\)/),
		});
	});

	test('the error output gets one item, and Rejected lists the rows', async () => {
		respondWith(OK, [503, '']);
		const pushed = await runPush(harness, manyRows(10_001), {}, { onError: 'continueErrorOutput' });
		expect(pushed.pushed).toHaveLength(1);
		expect(pushed.rejected).toHaveLength(1);
		expect(jsonOf(output(pushed.run, 'Node', 2))).toEqual([
			{
				error: expect.stringMatching(/^The service or a proxy returned HTTP status 503/),
				message: expect.stringMatching(/^The request wasn't sent again/),
				details: {
					item: 10_000,
					outcome: 'unknown',
					response_said: 'HTTP status 503',
					status: 503,
					received: 10_001,
					requests: 1,
					pushed: 10_000,
					rejected: 0,
					unknown: 1,
					not_sent: 0,
					duplicate: 0,
					do_not_disturb: 0,
					skipped_duplicate: 0,
					pushed_before: 0,
					skipped_unmatched: 0,
				},
			},
		]);
	});
});

describe('when a request certainly had no effect', () => {
	test('Retry On Fail pushes the remaining rows', async () => {
		const bodies = respondWith(OK, [409, rejection('Campaign is archived')], [200, accepted(1)]);
		const { pushed, rejected, error } = await runPush(harness, manyRows(10_001), {}, tryAgain);
		expect(error).toBeUndefined();
		expect(bodies.map(phonesOf).at(-1)).toEqual([phone(10_000)]);
		expect(pushed.map(({ json }) => json.contacts_received)).toEqual([10_000, 1]);
		expect(pushed[0]?.json.totals).toMatchObject({ pushed: 10_001, requests: 2, not_sent: 0 });
		expect(rejected).toEqual([]);
	});
});
