// What is mutated, in pieces that can be run and read one by one. Each is held to the tests beside its code; that some
// other test would notice a mutant as well does not count.
const SERVICE = 'nodes/shared/service';
const N8N = 'nodes/shared/n8n';
const plain = (...folders) =>
	folders.map((folder) => `test/nodes/shared/service/${folder}/**/*.test.ts`);
const engine = (...folders) => folders.map((folder) => `test/nodes/${folder}/**/*.test.ts`);
const FORMS = 'test/package/{forms,conventions}.test.ts';

/** All mutants of what decides whether something is done, how often, and what is told of it. */
const DECIDING = [
	{
		name: 'request',
		mutate: [
			`${SERVICE}/core/{retry,envelope,evidence,errorTable,notPerformed,explained,service}.ts`,
		],
		tests: [...plain('core'), 'test/nodes/PlaceCall/refused.test.ts'],
	},
	{
		name: 'items',
		mutate: [
			`${N8N}/{once,executionMemory,toolRun,itemLoop,listLoop,inOrder,onceEmitter,cancel,nodeErrors}.ts`,
		],
		tests: engine('shared/n8n', 'PlaceCall', 'ChatSend', 'CallCompletedTrigger', 'Dnd'),
	},
	{
		name: 'feed',
		mutate: [`${SERVICE}/campaignFeed/*.ts`],
		tests: [...plain('campaignFeed'), ...engine('PushCampaignContacts')],
	},
	{
		name: 'phone',
		mutate: [`${SERVICE}/phone/*.ts`, `${SERVICE}/dnd/phoneMatch.ts`],
		tests: [...plain('phone', 'dnd', 'campaignFeed')],
	},
	{
		name: 'socket',
		mutate: [`${SERVICE}/chatSocket/*.ts`],
		tests: plain('chatSocket'),
	},
	{
		name: 'triggers',
		mutate: ['nodes/*Trigger/!(*Fields|*.node).ts'],
		tests: engine('*Trigger', 'shared/n8n'),
	},
	{
		name: 'waits',
		mutate: [
			'nodes/PlaceCall/{knock,onReport,readCall,resumeAddress,sleepUntilOver,wait*,wakeUp}.ts',
			`${SERVICE}/calls/{openCalls,readUntilFinished,readBack,completion}.ts`,
			`${SERVICE}/campaigns/campaignWait.ts`,
			`${SERVICE}/chat/{chatWait,chatWatch}.ts`,
		],
		tests: [
			...plain('calls', 'campaigns', 'chat'),
			...engine('PlaceCall', 'CampaignStatus', 'ChatSession'),
		],
	},
];

const except = DECIDING.flatMap(({ mutate }) => mutate).map((glob) => `!${glob}`);

/** Of the rest a fixed sample is drawn. */
const REST = [
	{
		name: 'rest of the service',
		mutate: [`${SERVICE}/**/*.ts`, ...except],
		tests: [
			...plain('**'),
			...engine('PlaceCall', 'GetCall', 'CampaignStatus', 'Dnd', 'ChatSession', 'Agents'),
		],
	},
	{
		name: 'rest of n8n',
		mutate: [`${N8N}/*.ts`, 'credentials/*.ts', ...except],
		tests: [
			FORMS,
			'test/credentials/*.test.ts',
			...engine('shared/n8n', 'GetCall', 'Dnd', 'ChatSend', 'CallCompletedTrigger', 'Agents'),
		],
	},
	{
		name: 'rest of the nodes',
		mutate: ['nodes/!(shared)/**/*.ts', ...except],
		tests: [FORMS, ...engine('!(shared)')],
	},
];

const named = [
	...DECIDING.map((area) => ({ ...area, goal: 90, share: 1 })),
	...REST.map((area) => ({ ...area, goal: 80, share: 0.2 })),
];

/** Each area with the part of its mutants that is tried, and the file that keeps the results. */
export const AREAS = named.map((area) => {
	const share = Number(process.env.MUTATION_SHARE || area.share);
	const file = `${area.name.replaceAll(' ', '-')}${share === 1 ? '' : `-${share}`}`;
	return { ...area, share, results: `reports/mutation/${file}.json` };
});

/** The same seed draws the same mutants from the same code. */
export const SEED = 20261120;

export function areaNamed(name) {
	const area = AREAS.find((one) => one.name === name);
	if (area === undefined) {
		throw new Error(`There is no area ${name}: ${AREAS.map((one) => one.name).join(', ')}`);
	}
	return area;
}
