import { notVerified } from '../../../nodes/CallCompletedTrigger/unverified';
import { OutcomeUnknown } from '../../../nodes/shared/api/errors';
import { forEveryone } from '../../../nodes/shared/api/modelAdvice';
import { NotEndedYet } from '../../../nodes/shared/calls/readBack';

const calls = (count: number, error: unknown) =>
	Array.from({ length: count }, (_, index) => ({ callId: `c${index + 1}`, error }));

test.each<[string, unknown, string]>([
	[
		'what says how to mend it',
		new OutcomeUnknown('It broke', forEveryone('Look at the service.')),
		'It broke. Look at the service. Once that is put right, read this call with Get Call.',
	],
	[
		'what does not',
		new Error('the vault is shut'),
		'the vault is shut. Once that is put right, read this call with Get Call.',
	],
	['a word', 'odd', 'odd. Once that is put right, read this call with Get Call.'],
])('a call that cannot be read back, because of %s', (_what, error, advice) => {
	expect(notVerified(calls(1, error))).toMatchObject([
		{
			message:
				'Call c1 was reported as completed but could not be read back, so the workflow was not started for it',
			resolution: advice,
		},
	]);
});

test('several that cannot be read back, and several that show no end, are told by two messages with their names', () => {
	const error = new OutcomeUnknown('It broke', forEveryone('Look at the service.'));
	const told = notVerified([...calls(3, error), ...calls(2, new NotEndedYet('picked'))]);
	expect(told.map(({ message, resolution }) => [message, resolution])).toEqual([
		[
			'2 calls were reported as completed but show no end, so the workflow was not started for them',
			'For calls that are still in progress, the workflow starts when their end is reported. Read the others with Get Call: c1, c2.',
		],
		[
			'3 calls were reported as completed but could not be read back, so the workflow was not started for them',
			'It broke. Look at the service. Once that is put right, read these calls with Get Call: c1, c2, c3.',
		],
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
])('of calls that show no end, with the statuses %j', (statuses, advice) => {
	const unended = statuses.map((status) => ({ callId: 'c', error: new NotEndedYet(status) }));
	expect(notVerified(unended)[0]?.resolution).toMatch(/with Get Call: c(, c)+\./);
	expect(notVerified(unended)[0]?.resolution.replace(/^.*Get Call: [^.]*\./, '')).toBe(advice);
});

test('500 calls are named in ten messages, and of more the last one says how many', () => {
	const namesIn = (count: number) =>
		notVerified(calls(count, 'odd')).map(({ resolution }) => resolution.match(/c\d+/g)?.length);
	expect(namesIn(500)).toEqual(Array.from({ length: 10 }, () => 50));
	expect(namesIn(501)).toEqual(namesIn(500));
	expect(notVerified(calls(501, 'odd')).at(-1)).toMatchObject({
		message: expect.stringMatching(/^51 calls /),
		resolution: expect.stringMatching(/c499, c500 and 1 more\.$/),
	});
	expect(notVerified(calls(5_000, 'odd'))).toHaveLength(10);
});

test('nothing is told of nothing', () => {
	expect(notVerified([])).toEqual([]);
});
