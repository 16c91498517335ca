import { readingFailed } from '../../../../nodes/CallCompletedTrigger/reading/readingNotices';

it.each([
	[false, 'The next reading tries again, and no call is lost.'],
	[
		true,
		"The next reading tries again. Calls that were created before publishing and end before it succeeds don't start the workflow.",
	],
])('a failed reading, first reading: %s', (isFirst, resolution) => {
	expect(readingFailed(new Error('timeout'), isFirst)).toMatchObject({
		message: "The calls couldn't be read: timeout",
		resolution: expect.stringContaining(resolution),
	});
});
