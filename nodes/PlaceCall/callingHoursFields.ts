import type { INodeProperties } from 'n8n-workflow';

export const callingHoursField: INodeProperties = {
	displayName: 'Calling Hours',
	name: 'callingHours',
	type: 'fixedCollection',
	placeholder: 'Add Hours',
	default: {},
	description:
		"When people may be called, in their local time. Outside these hours, a call is scheduled for the next opening, unless you change 'Outside Calling Hours'. The service's own retries and callbacks don't follow these hours.",
	options: [
		{
			displayName: 'Hours',
			name: 'hours',
			values: [
				{
					displayName: 'Days',
					name: 'days',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. Mon-Fri, Sun',
					description:
						'English names of the days on which the hours start, separated by commas. Use a hyphen for a range.',
				},
				{
					displayName: 'From',
					name: 'from',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. 09:00',
					description: 'The 24-hour time at which calling starts',
				},
				{
					displayName: 'To',
					name: 'to',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. 18:30',
					description:
						"The 24-hour time at which calling ends. No call is placed at this time or later. A time before 'From' is on the next day.",
				},
				{
					displayName: 'Time Zone',
					name: 'timeZone',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. Asia/Kolkata',
					description:
						'The time zone of the people to call, which can differ from the time zone of this workflow. An expression can return one per item.',
				},
			],
		},
	],
};

export const outsideHoursField: INodeProperties = {
	displayName: 'Outside Calling Hours',
	name: 'outsideCallingHours',
	type: 'options',
	options: [
		{
			name: 'Do Not Place',
			value: 'notPlaced',
			description:
				'Return the item with placed set to false and the time in next_opening, so that a later execution can place the call',
		},
		{
			name: 'Schedule for the Next Opening',
			value: 'schedule',
			description: "The service places the call when 'Calling Hours' start again",
		},
	],
	default: 'schedule',
	description: "What to do with a call outside 'Calling Hours'",
};
