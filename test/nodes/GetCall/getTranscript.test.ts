import { service } from '../../engine';
import { nodeHarness } from '../nodeHarness';

const { records } = nodeHarness('getCall', {
	operation: 'getTranscript',
	callId: 'call-1',
});
const endpoint = () => service().get('/v1/call/call-1/transcript');

test('returns turns and text', async () => {
	const transcript = [
		{ role: 'assistant', content: 'Hello', timestamp: 't1' },
		{ role: 'someone-else', content: 'Who is\nthis?', timestamp: 't2' },
	];
	endpoint().reply(200, { success: true, data: { call_id: 'call-1', transcript, pages: 1 } });
	expect(await records()).toEqual([
		{
			call_id: 'call-1',
			transcript,
			pages: 1,
			transcript_text: 'assistant: Hello\nsomeone-else: Who is this?',
		},
	]);
});

test.each([{ call_id: 'call-1', transcript: [] }, { call_id: 'call-1' }])(
	'none was captured: %p',
	async (data) => {
		endpoint().reply(200, { success: true, data });
		expect(await records()).toEqual([{ call_id: 'call-1', transcript: [], transcript_text: '' }]);
	},
);
