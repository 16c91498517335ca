import { service, records } from '../../engine';
import { chatHarness, sessions, stopMessage } from '../chatHarness';

const harness = chatHarness('injectContext', {
	sessionId: sessions.open,
	context: '={{ $json.entry }}',
});
const PATH = `/v1/chat/session/${sessions.open}/inject_context`;
const injected = () => harness.simulator().sessions.get(sessions.open).context.slice(1);
const entries = (...texts: string[]) => texts.map((entry) => ({ entry }));

test.each(['Great', 'Great \ufffd', 'Gre…'])(
	'an entry that the service lists as %j is added',
	async (listed) => {
		const data = { session_id: sessions.open, context: ['start', listed] };
		service().post(PATH).reply(200, { success: true, data });
		const run = await harness.runOnNock({}, { items: entries('Great \ud83d\ude00'.slice(0, 7)) });
		expect(records(run)).toMatchObject([data]);
	},
);

test('Continue On Fail: valid items are added in order', async () => {
	const over = { onError: 'continueRegularOutput' as const };
	const run = await harness.run({}, { items: entries('one', ' ', 'three'), overrides: over });
	expect(records(run)).toMatchObject([
		{ session_id: sessions.open },
		{ error: "'Context' is empty [row 2]" },
		{ session_id: sessions.open },
	]);
	expect(injected()).toEqual(['one', 'three']);
});

test("an entry with an unknown outcome isn't sent again, nor is one after it, not even by Retry On Fail", async () => {
	service()
		.post(PATH)
		.reply(200, { success: true, data: { context: ['one'] } });
	service().post(PATH).reply(502);
	const overrides = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const run = await harness.runOnNock({}, { items: entries('one', 'two', 'three'), overrides });
	const { description } = stopMessage(run);
	expect(description).toContain('Completed in an earlier attempt: row 1.');
	expect(description).toContain("To send the items that weren't sent");
});
