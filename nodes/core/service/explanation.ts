/** What happened, and what to do about it. */
export type Explanation = {
	message: string;
	/**
	 * One text for a person in n8n and for a model that uses the node as a tool. Labels in quotes are those of the fields, which are
	 * also the tool's arguments. A sentence about what only the owner of the workflow can do begins with "In n8n,".
	 */
	resolution: string;
	/** Whether the same request may succeed later. */
	isTransient?: boolean;
};
