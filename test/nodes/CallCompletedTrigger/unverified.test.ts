import { unverifiedMessages } from '../../../nodes/CallCompletedTrigger/unverified';
import { OutcomeUnknown } from '../../../nodes/shared/api/errors';
import { forEveryone } from '../../../nodes/shared/api/resolution';
import { FormerOutcome, NotEndedYet } from '../../../nodes/shared/calls/readBack';

const calls = (count: number, error: unknown) =>
	Array.from({ length: count }, (_, index) => ({ callId: `c${index + 1}`, error }));

test.each<[string, unknown, string]>([
	[
		'an error with advice',
		new OutcomeUnknown('It broke', forEveryone('Look at the service.')),
		'It broke. Look at the service. When this is fixed, read the call with Get Call.',
	],
	[
		'an error without advice',
		new Error('the vault is shut'),
		'the vault is shut. When this is fixed, read the call with Get Call.',
	],
	['a word', 'odd', 'odd. When this is fixed, read the call with Get Call.'],
])('a call that cannot be read back, because of %s', (_what, error, advice) => {
	expect(unverifiedMessages(calls(1, error))).toMatchObject([
		{
			message:
				"Call c1 was reported as completed, but couldn't be read, so the workflow wasn't started",
			resolution: advice,
		},
	]);
});

test('unreadable calls and calls without an end have separate messages with their IDs', () => {
	const error = new OutcomeUnknown('It broke', forEveryone('Look at the service.'));
	const messages = unverifiedMessages([...calls(3, error), ...calls(2, new NotEndedYet('picked'))]);
	expect(messages.map(({ message, resolution }) => [message, resolution])).toEqual([
		[
			"2 calls were reported as completed, but their records don't show an end yet, so the workflow wasn't started for them",
			'For calls that are still in progress, the workflow starts when their end is reported. Read the others with Get Call: c1, c2.',
		],
		[
			"3 calls were reported as completed, but couldn't be read, so the workflow wasn't started for them",
			'It broke. Look at the service. When this is fixed, read the calls with Get Call: c1, c2, c3.',
		],
	]);
});

test.each<[number, string, string]>([
	[
		1,
		"Call c1 was reported with another outcome than its record shows, so the workflow wasn't started for the reported one",
		'Read it with Get Call. If its record never shows the reported outcome, the report is old, wrong, or forged.',
	],
	[
		2,
		"2 calls were reported with other outcomes than their records show, so the workflow wasn't started for the reported ones",
		'Read them with Get Call: c1, c2. If a record never shows the reported outcome, the report is old, wrong, or forged.',
	],
])('%i with the outcome before the reported one', (count, message, resolution) => {
	expect(unverifiedMessages(calls(count, new FormerOutcome()))).toMatchObject([
		{ message, resolution },
	]);
});

test.each<[string[], string]>([
	[['picked', 'picked'], ''],
	[
		['voicemail', 'picked', 'voicemail'],
		` If the status "voicemail" means that a call has ended, add it to 'Finished Statuses' in the options of the trigger.`,
	],
	[
		['busy', 'voicemail'],
		` Of the statuses "busy", "voicemail", add those that mean that a call has ended to 'Finished Statuses' in the options of the trigger.`,
	],
])('the advice for calls without an end, with the statuses %j', (statuses, advice) => {
	const unended = statuses.map((status) => ({ callId: 'c', error: new NotEndedYet(status) }));
	expect(unverifiedMessages(unended)[0]?.resolution).toMatch(/with Get Call: c(, c)+\./);
	expect(unverifiedMessages(unended)[0]?.resolution.replace(/^.*Get Call: [^.]*\./, '')).toBe(
		advice,
	);
});

test('500 calls are listed in ten messages, and the last one counts the rest', () => {
	const namesIn = (count: number) =>
		unverifiedMessages(calls(count, 'odd')).map(
			({ resolution }) => resolution.match(/c\d+/g)?.length,
		);
	expect(namesIn(500)).toEqual(Array.from({ length: 10 }, () => 50));
	expect(namesIn(501)).toEqual(namesIn(500));
	expect(unverifiedMessages(calls(501, 'odd')).at(-1)).toMatchObject({
		message: expect.stringMatching(/^51 calls /),
		resolution: expect.stringMatching(/c499, c500 and 1 more\.$/),
	});
	expect(unverifiedMessages(calls(5_000, 'odd'))).toHaveLength(10);
});

test('without calls, there are no messages', () => {
	expect(unverifiedMessages([])).toEqual([]);
});
