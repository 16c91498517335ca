/**
 * What to do about an error, in one text for a person in n8n and for a model that uses the node as a tool. Labels in quotes are
 * those of the fields, which are also the tool's arguments. What only the owner of the workflow can do begins with "In n8n,".
 */
export type Resolution = string | PerReader;

/** An error that still has two texts. */
export type PerReader = { onScreen: string; forModel: string; fields?: string[] };

/** What happened, and what to do about it. */
export type Explanation = {
	message: string;
	resolution: Resolution;
	/** Whether the same request may succeed later. */
	isTransient?: boolean;
};

/** The reader of a resolution. */
export type Reader = 'onScreen' | 'forModel';

/** The resolution for a reader. */
export function adviceFor(resolution: Resolution, reader: Reader): string {
	return typeof resolution === 'string' ? resolution : resolution[reader];
}

/** For a person and a model alike. */
export function forEveryone(text: string, ...fields: string[]): PerReader {
	return { onScreen: text, forModel: text, ...(fields.length > 0 && { fields }) };
}

/** Only for a person in n8n. A model can't do this. */
export function onScreenOnly(text: string): PerReader {
	return { onScreen: text, forModel: '' };
}

/** What happened, what a person can do, and what a model can do, if it fills in one of these fields. */
export type Texts = readonly [
	message: string,
	onScreen: string,
	forModel?: string,
	...fields: string[],
];

export function toExplanation([message, onScreen, forModel = '', ...fields]: Texts) {
	const resolution: PerReader = { onScreen, forModel, ...(fields.length > 0 && { fields }) };
	return { message, resolution };
}

/** The person who chats with the model, not the person on the phone. */
export const USER = 'the user you are chatting with';

/** If neither the model nor its user can fix it. */
export const FOR_THE_OWNER = `Tell ${USER} that the person who set up this tool must fix this.`;
