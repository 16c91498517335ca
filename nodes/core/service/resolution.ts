/**
 * What to do about an error: `onScreen` for a person in n8n, `forModel` for a model that uses the node as a tool.
 * `forModel` never names fields or settings of the screen. It's empty if a model can do nothing.
 */
export type Resolution = {
	onScreen: string;
	forModel: string;
	/** The labels of the fields that `forModel` is about. If a model fills in none of them, it can do nothing. */
	fields?: string[];
};

/** What happened, and what to do about it. */
export type Explanation = {
	message: string;
	resolution: Resolution;
	/** Whether the same request may succeed later. */
	isTransient?: boolean;
};

/** The reader of a resolution. */
export type Reader = 'onScreen' | 'forModel';

/**
 * For a person and a model alike. Must not name anything on the screen.
 *
 * @param fields their labels, if it's only about their values
 */
export function forEveryone(text: string, ...fields: string[]): Resolution {
	return { onScreen: text, forModel: text, ...(fields.length > 0 && { fields }) };
}

/** Only for a person in n8n. A model can't do this. */
export function onScreenOnly(text: string): Resolution {
	return { onScreen: text, forModel: '' };
}

/** What happened, what a person can do, and what a model can do, if it fills in one of these fields. */
export type Texts = readonly [
	message: string,
	onScreen: string,
	forModel?: string,
	...fields: string[],
];

export function toExplanation([message, onScreen, forModel = '', ...fields]: Texts): Explanation {
	return { message, resolution: { onScreen, forModel, ...(fields.length > 0 && { fields }) } };
}

/** The person who chats with the model, not the person on the phone. */
export const USER = 'the user you are chatting with';

/** If neither the model nor its user can fix it. */
export const FOR_THE_OWNER = `Tell ${USER} that the person who set up this tool must fix this.`;
