import {
	engineHarness,
	runKilled,
	oneNodeWorkflow,
	output,
	resume,
	service,
	storedCopy,
} from '../../engine';
import { fixtures } from '../../simulator';

const harness = engineHarness();
const sessionId = fixtures.sessions.open;
const PATH = `/v1/chat/session/${sessionId}/inject_context`;

test('after n8n was killed, no entry is added to a session that got one, also if another one was rejected', async () => {
	const added: unknown[] = [];
	service().post(PATH).reply(422, { success: false, error: 'context is too long' });
	const accept = () =>
		service()
			.post(PATH)
			.reply(200, (_uri, body) => {
				added.push(typeof body === 'string' ? body : body.context);
				return { success: true, data: { context: ['initial', ...added] } };
			});
	const node = harness.node('injectContext', {
		parameters: { sessionId, context: '={{ $json.text }}' },
		onError: 'continueRegularOutput',
	});
	const items = ['A long text', 'She asked for a visit'].map((text) => ({ json: { text } }));
	const { workflow, start } = oneNodeWorkflow(node);
	accept();
	const started = await runKilled(harness.credentials, workflow, start, items);
	expect(added).toEqual(['She asked for a visit']);
	const run = await resume(harness.credentials, workflow, storedCopy(started), 'retry');
	expect(added).toEqual(['She asked for a visit']);
	const unknown = expect.stringContaining('An earlier attempt of this execution');
	expect(output(run, 'Node').map(({ json }) => json.error)).toEqual([unknown, unknown]);
});
