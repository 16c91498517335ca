/** Names of the initial data of every simulator. */
export const fixtures = {
	agents: {
		/** Number and post-call analysis. */
		full: 'agent_sales_in',
		us: 'agent_support_us',
		noNumber: 'agent_no_number',
		noAnalysis: 'agent_no_analysis',
		inactive: 'agent_inactive',
		/** Belongs to another account. */
		foreign: 'agent_foreign-1',
	},
	campaigns: { active: 101, draft: 102, paused: 103, archived: 104 },
	uploads: { completed: 9001, running: 9002 },
	calls: {
		finished: '6f1c2a34-0000-4000-8000-000000000001',
		/** Answered, but without a recording. */
		noRecording: '6f1c2a34-0000-4000-8000-000000000002',
		/** Never answered: empty transcript. */
		notPicked: '6f1c2a34-0000-4000-8000-000000000003',
		/** Undocumented enum values. */
		unusual: '6f1c2a34-0000-4000-8000-000000000004',
		inFlight: '6f1c2a34-0000-4000-8000-000000000005',
		/** 6 to 40: further ones of campaign 101, for paging. */
		more: 35,
	},
	/** On the list of the full agent; 120 more follow it. */
	dndPhone: '+919812345678',
	sessions: {
		open: '3b241101-e2bb-4255-8caf-4136c566a962',
		dormant: '3b241101-e2bb-4255-8caf-4136c566a963',
		closed: '3b241101-e2bb-4255-8caf-4136c566a964',
		/** Its agent is inactive. */
		inactiveAgent: '3b241101-e2bb-4255-8caf-4136c566a965',
		/** Belongs to another account. */
		foreign: '3b241101-e2bb-4255-8caf-4136c566a966',
		unknown: '00000000-0000-4000-8000-000000000000',
	},
} as const;

/** Values that the document doesn't list. */
export const UNUSUAL = {
	status: 'line_dead',
	call_type: 'second_attempt',
	channel: 'gsm',
	call_ended_by: 'carrier',
	call_ended_reason: 'carrier-ended-call',
};
export const CUSTOMER_ROLE = 'callee';
export const DND_REASON = 'user_requested';

export function callId(number: number): string {
	return `6f1c2a34-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

/** Names of the calls and sessions that `fill` adds, numbered from 0. */
export const filled = {
	callId: (number: number) => callId(1_000_000 + number),
	sessionId: (number: number) => `3b241101-e2bb-4255-8caf-${String(number).padStart(12, '0')}`,
};
