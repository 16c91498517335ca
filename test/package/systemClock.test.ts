/**
 * The system clock can change while a workflow runs, so only these files read it, each with a reason. `performance.now()`
 * only moves forward.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../engine/sourceLoader';

const READS_SYSTEM_CLOCK =
	/(?<!performance\.)\bnow\(\)|\bDate\.now\b|\bnew Date\(\)|\bDateTime\.(now|local|utc)\(\)|\bmoment\(\)/;

const REASONS: { [file: string]: string } = {
	'nodes/shared/clock.ts': 'defines the clock',
	'nodes/shared/n8n/http/accountClient.ts': 'makes the clock',
	'nodes/shared/calls/readCall.ts': 'the output says when a URL of a recording expires',
	'nodes/shared/calls/recentCampaigns.ts': 'a filter of the call list is a date',
	'nodes/CampaignCallsTrigger/pollCalls.ts': 'n8n stores when all contact lists were read',
	'nodes/ChatSession/chatWait.ts': 'compared with the time of an event',
	'nodes/PlaceCall/placeCalls.ts': 'calling hours, the scheduled time, and when a call was placed',
	'nodes/Dnd/operations/forget.operation.ts': 'calls count per day, week, or month',
	'nodes/PlaceCall/scheduled.ts': 'whether a scheduled call is still to come',
	'nodes/PlaceCall/wait/prepareWait.ts':
		'a scheduled call is waited for from its date on, and n8n stores the end of the wait as a date',
	'nodes/PlaceCall/wait/resumeUrl.ts': 'n8n ends its waits by this clock',
	'nodes/PlaceCall/wait/resumeWebhook.ts': 'n8n stores the end of the wait as a date',
	'nodes/shared/n8n/tools/toolResult.ts': "a model can't know the time",
};

const files = globSync('{nodes,credentials}/**/*.ts', { cwd: ROOT }).sort();

const source = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

test('only these files read the system clock', () => {
	expect(files.length).toBeGreaterThan(150);
	const reading = files.filter((file) => READS_SYSTEM_CLOCK.test(source(file)));
	expect(reading).toEqual(Object.keys(REASONS).sort());
});

test('no function for the time is passed on', () => {
	const given = files.flatMap((file) => source(file).match(/\(\) => clock\.\w+\(\)/g) ?? []);
	expect(given).toEqual([]);
});
