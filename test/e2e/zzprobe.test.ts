import { randomUUID } from 'node:crypto';
import { chain, webhook } from '../n8n/workflow';
import { useAccount } from './account';
const { n8n, simulator, placeCall, publish, executionOf } = useAccount();
afterEach(() => simulator.reset());
const hours = (from: string, to = '23:00') => ({ callingHours: { hours: { days: ['monday','tuesday','wednesday','thursday','friday','saturday','sunday'], from, to, timeZone: { __rl: true, mode: 'id', value: 'Asia/Kolkata' } } } });
test.each([
	['={{ $now }}'], ['={{ $now.plus({hours: 2}) }}'], ['={{ new Date(Date.now() + 3600000) }}'], ["={{ DateTime.fromFormat('18:30', 'HH:mm') }}"], ["={{ '18:30'.toDateTime() }}"], ['={{ 0.7708333 }}'], ['={{ 0.25 }}'], ['18:30:00'], ['={{ $json.body.t }}'],
])('%s', async (scheduledTime) => {
	for (const parameters of [{ when: 'timeOfDay', scheduledTime }, { options: hours(scheduledTime) }, { initialGreeting: `=Hello {{ $json.missing }} {{ null }} {{ undefined }} {{ NaN }} {{ $json.body.n }} ${scheduledTime.slice(1)}`, personName: '={{ $json.body.n }}' }]) {
		const path = randomUUID();
		const workflow = await publish(chain('t', webhook(path, { responseMode: 'onReceived' }), placeCall({ phoneNumber: '9876543210', ...parameters } as never)));
		await n8n.webhook(path, { t: '6:30:00 PM', n: null });
		const id = await executionOf(workflow);
		await n8n.finished(id);
		const { error } = await n8n.runData(id);
		console.log(scheduledTime, JSON.stringify(parameters).slice(0, 60), '→', error?.message ?? JSON.stringify(simulator.requests.at(-1)?.body ?? null));
	}
});
